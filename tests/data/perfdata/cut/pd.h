/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tiny perf.data writer, native endian */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct{unsigned char*p;size_t n,cap;}Buf;
static void put(Buf*b,const void*v,size_t n){if(b->n+n>b->cap){b->cap=(b->n+n)*2+64;b->p=realloc(b->p,b->cap);}memcpy(b->p+b->n,v,n);b->n+=n;}
static void p16(Buf*b,unsigned v){uint16_t x=v;put(b,&x,2);}
static void p32(Buf*b,uint32_t v){put(b,&v,4);}
static void p64(Buf*b,uint64_t v){put(b,&v,8);}
static void pstr(Buf*b,const char*s){size_t n=strlen(s)+1;static const char z[8];put(b,s,n);put(b,z,(8-n%8)%8);}
static size_t rec(Buf*b,uint32_t type,unsigned misc){size_t o=b->n;p32(b,type);p16(b,misc);p16(b,0);return o;}
static void fin(Buf*b,size_t o){uint16_t s=b->n-o;memcpy(b->p+o+6,&s,2);}
/* sample_id_all trailer for sample_type TID|TIME (and IDENTIFIER when id!=0) */
static void tail(Buf*b,int pid,int tid,uint64_t t,uint64_t id){p32(b,pid);p32(b,tid);p64(b,t);if(id)p64(b,id);}
__attribute__((unused)) static void comm(Buf*b,int pid,int tid,const char*n,uint64_t t,int exec,uint64_t id){size_t o=rec(b,PERF_RECORD_COMM,exec?PERF_RECORD_MISC_COMM_EXEC:0);p32(b,pid);p32(b,tid);pstr(b,n);tail(b,pid,tid,t,id);fin(b,o);}
__attribute__((unused)) static void forkr(Buf*b,int pid,int ppid,uint64_t t,uint64_t id){size_t o=rec(b,PERF_RECORD_FORK,0);p32(b,pid);p32(b,ppid);p32(b,pid);p32(b,ppid);p64(b,t);tail(b,ppid,ppid,t,id);fin(b,o);}
__attribute__((unused)) static void mmap2(Buf*b,int pid,int tid,uint64_t a,uint64_t len,uint64_t off,const char*f,uint64_t t,uint64_t id){
	size_t o=rec(b,PERF_RECORD_MMAP2,PERF_RECORD_MISC_USER);p32(b,pid);p32(b,tid);p64(b,a);p64(b,len);p64(b,off);p32(b,8);p32(b,1);p64(b,4711);p64(b,0);p32(b,5);p32(b,2);pstr(b,f);tail(b,pid,tid,t,id);fin(b,o);}
/* sample_type [IDENTIFIER] IP TID TIME PERIOD */
__attribute__((unused)) static void sample(Buf*b,int pid,int tid,uint64_t ip,uint64_t t,uint64_t period,uint64_t id){size_t o=rec(b,PERF_RECORD_SAMPLE,PERF_RECORD_MISC_USER);if(id)p64(b,id);p64(b,ip);p32(b,pid);p32(b,tid);p64(b,t);p64(b,period);fin(b,o);}
__attribute__((unused)) static void roundr(Buf*b){size_t o=rec(b,68,0);fin(b,o);}
static struct perf_event_attr cpuclk(uint64_t stype){struct perf_event_attr a;memset(&a,0,sizeof a);a.type=PERF_TYPE_SOFTWARE;a.size=sizeof a<136?sizeof a:128;a.config=PERF_COUNT_SW_CPU_CLOCK;a.sample_period=1000000;a.sample_type=stype;a.sample_id_all=1;a.mmap=a.mmap2=a.comm=a.comm_exec=a.task=1;return a;}
typedef struct{struct perf_event_attr a;uint64_t ids[8];int nid;}Ev;
/* asz: bytes of attr stored per event (excluding the 16-byte id section); data_size<0: write the real one */
static void save(const char*path,Ev*ev,int nev,unsigned asz,Buf*d,long long data_size,unsigned char fill){
	Buf f={0};uint64_t hsz=104,ids=hsz,idn=0;for(int i=0;i<nev;i++)idn+=8*ev[i].nid;
	uint64_t at=ids+idn,dat=at+(uint64_t)nev*(asz+16);
	put(&f,"PERFILE2",8);p64(&f,hsz);p64(&f,asz+16);p64(&f,at);p64(&f,(uint64_t)nev*(asz+16));p64(&f,dat);p64(&f,data_size<0?d->n:(uint64_t)data_size);p64(&f,0);p64(&f,0);for(int i=0;i<4;i++)p64(&f,0);
	for(int i=0;i<nev;i++)for(int k=0;k<ev[i].nid;k++)p64(&f,ev[i].ids[k]);
	uint64_t o=ids;
	for(int i=0;i<nev;i++){unsigned char tmp[512];memset(tmp,fill,sizeof tmp);struct perf_event_attr a=ev[i].a;a.size=asz;memcpy(tmp,&a,asz<sizeof a?asz:sizeof a);if(asz>sizeof a)memset(tmp+sizeof a,fill,asz-sizeof a);put(&f,tmp,asz);p64(&f,o);p64(&f,8*ev[i].nid);o+=8*ev[i].nid;}
	put(&f,d->p,d->n);
	FILE*w=fopen(path,"wb");if(!w||fwrite(f.p,1,f.n,w)!=f.n){perror(path);exit(1);}fclose(w);free(f.p);
}
#define BASE (PERF_SAMPLE_IP|PERF_SAMPLE_TID|PERF_SAMPLE_TIME|PERF_SAMPLE_PERIOD)
