/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rewrites PERF_RECORD_COMPRESSED (81, odd sizes) of a perf.data file as PERF_RECORD_COMPRESSED2 (83, length field + padding) */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int c,char**v){
	if(c<3)return 2;
	FILE*f=fopen(v[1],"rb");if(!f)return 1;fseek(f,0,SEEK_END);long n=ftell(f);rewind(f);
	unsigned char*b=malloc(n);if(fread(b,1,n,f)!=(size_t)n)return 1;fclose(f);
	uint64_t off,sz;memcpy(&off,b+40,8);memcpy(&sz,b+48,8);
	FILE*w=fopen(v[2],"wb");fwrite(b,1,off,w);uint64_t out=0;long k=0;
	for(uint64_t o=off;o<off+sz;){
		uint32_t t;uint16_t m,s;memcpy(&t,b+o,4);memcpy(&m,b+o+4,2);memcpy(&s,b+o+6,2);if(s<8)return 1;
		if(t==81){uint64_t len=s-8;uint16_t ns=(16+len+7)&~7u;uint32_t nt=83;static const char z[8];
			fwrite(&nt,4,1,w);fwrite(&m,2,1,w);fwrite(&ns,2,1,w);fwrite(&len,8,1,w);fwrite(b+o+8,1,len,w);fwrite(z,1,ns-16-len,w);out+=ns;k++;}
		else{fwrite(b+o,1,s,w);out+=s;}
		o+=s;
	}
	/* feature section table and bodies move by the growth of the data section */
	int64_t d=(int64_t)out-(int64_t)sz;uint64_t fo=off+sz;int nf=0;for(int i=72;i<104;i++)for(int j=0;j<8;j++)nf+=b[i]>>j&1;
	for(int i=0;i<nf;i++){uint64_t x;memcpy(&x,b+fo+16*i,8);x+=d;memcpy(b+fo+16*i,&x,8);}
	fwrite(b+fo,1,n-fo,w);fseek(w,48,SEEK_SET);fwrite(&out,8,1,w);fclose(w);
	printf("%ld compressed records rewritten\n",k);return 0;
}
