#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
void sweep_rhs_lc_wave1d_4(long first, long last, double *restrict Y_next_0,
        double *restrict Y_next_1, double *restrict Y_next_2, double *restrict Y_next_3,
        const double *restrict Y_0, const double *restrict Y_1, const double *restrict Y_2,
        const double *restrict Y_3, const double *restrict y, long n, double delta_x, double h);
static __attribute__((noinline)) void clk(long r){ asm volatile("1:\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\timul %%rbx,%%rax\n\t dec %[r]\n\tjnz 1b":[r]"+r"(r)::"rax","rbx");}
int main(){ char*b=aligned_alloc(4096,1<<18); double*p=(double*)b; for(int i=0;i<(1<<15);i++)p[i]=0.5;
double c=1e9;for(int t=0;t<40;t++){double a=now();clk(20000);a=now()-a;if(a<c)c=a;}double cy=c/(20000*16*3.0);
long n=8192; for(int len=8;len<=260;len+=4){ double best=1e9; for(int t=0;t<60;t++){double a=now(); for(int r=0;r<400;r++) sweep_rhs_lc_wave1d_4(40+8*0,40+len,p+32,p+1096,p+2160,p+3224,p+4288,p+5352,p+6416,p+7480,p+8544,n,0.25,0.25); a=now()-a;if(a<best)best=a;} printf(" %.3f",best/cy/400);} printf("\n");}
