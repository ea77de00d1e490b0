/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static double cpu(void){struct timespec t;clock_gettime(CLOCK_PROCESS_CPUTIME_ID,&t);return t.tv_sec+t.tv_nsec/1e9;}
__attribute__((noinline)) void spin_part(double e){while(cpu()<e)for(volatile int i=0;i<900;i++);}
__attribute__((noinline)) void fault_part(double e){while(cpu()<e){char*m=mmap(0,1<<20,PROT_READ|PROT_WRITE,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);for(int i=0;i<1<<20;i+=4096)m[i]=1;munmap(m,1<<20);}}
int main(void){for(double d=cpu()+2;cpu()<d;){spin_part(cpu()+.05);fault_part(cpu()+.05);}return 0;}
