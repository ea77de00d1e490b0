/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pd.h"
#include <unistd.h>
static void cut(const char*src,const char*dst,long n){FILE*r=fopen(src,"rb"),*w=fopen(dst,"wb");int c;while(n-->0&&(c=fgetc(r))!=EOF)fputc(c,w);fclose(r);fclose(w);}
int main(void){
	Buf d={0};Ev e={cpuclk(BASE),{1},1};
	comm(&d,100,100,"prog",5,1,0);mmap2(&d,100,100,0x400000,0x1000,0,"/x/prog",6,0);
	size_t first=d.n;for(int i=0;i<1000;i++)sample(&d,100,100,0x400010+i%64,100+i,1000000,0);
	save("good.data",&e,1,128,&d,-1,0);save("unfinished.data",&e,1,128,&d,0,0);	/* recorder killed: data.size never written */
	long head=104+8+144;
	cut("good.data","cut_magic.data",6);cut("good.data","cut_header.data",70);cut("good.data","cut_attrs.data",104+8+60);
	cut("good.data","cut_midrecord.data",head+first+500*40+13);cut("good.data","cut_clean.data",head+first+500*40);
	FILE*w=fopen("empty.data","wb");fclose(w);
	puts("good: 1000 samples; unfinished: 1000; cut_midrecord/cut_clean: 500; others: none");
}
