	.text
	.section	.rodata.cst8,"aM",@progbits,8
	.p2align	3                               # -- Begin function rhs_string
.LCPI0_0:
	.quad	0xc000000000000000              # double -2
	.text
	.globl	rhs_string
	.p2align	4, 0x90
	.type	rhs_string,@function
rhs_string:                             # @rhs_string
# %bb.0:
	cmpq	%rsi, %rdi
	jge	.LBB0_8
# %bb.1:
	vmovsd	(%rcx,%rdi,8), %xmm1            # xmm1 = mem[0],zero
	leaq	2(%rdi), %rax
	movq	%rdi, %r8
	notq	%r8
	cmpq	%rax, %rsi
	cmovgq	%rsi, %rax
	addq	%rax, %r8
	cmpq	$8, %r8
	jae	.LBB0_3
# %bb.2:
	movq	%rdi, %rax
	jmp	.LBB0_6
.LBB0_3:
	shrq	%r8
	vbroadcastsd	.LCPI0_0(%rip), %ymm2   # ymm2 = [-2.0E+0,-2.0E+0,-2.0E+0,-2.0E+0]
	movl	$4, %eax
	vbroadcastsd	%xmm1, %ymm3
	vbroadcastsd	%xmm0, %ymm1
	incq	%r8
	movl	%r8d, %r9d
	andl	$3, %r9d
	testq	%r9, %r9
	cmovneq	%r9, %rax
	subq	%rax, %r8
	leaq	(%rdi,%r8,2), %rax
	shlq	$3, %rdi
	.p2align	4, 0x90
.LBB0_4:                                # =>This Inner Loop Header: Depth=1
	vmovupd	8(%rcx,%rdi), %ymm5
	vmovupd	40(%rcx,%rdi), %ymm7
	vmovupd	-16(%rcx,%rdi), %ymm4
	vmovupd	16(%rcx,%rdi), %ymm6
	vperm2f128	$49, %ymm6, %ymm4, %ymm11 # ymm11 = ymm4[2,3],ymm6[2,3]
	vperm2f128	$32, %ymm6, %ymm4, %ymm4 # ymm4 = ymm4[0,1],ymm6[0,1]
	vperm2f128	$32, %ymm7, %ymm5, %ymm9 # ymm9 = ymm5[0,1],ymm7[0,1]
	vperm2f128	$49, %ymm5, %ymm3, %ymm10 # ymm10 = ymm3[2,3],ymm5[2,3]
	vperm2f128	$49, %ymm7, %ymm5, %ymm8 # ymm8 = ymm5[2,3],ymm7[2,3]
	vunpcklpd	%ymm11, %ymm4, %ymm4    # ymm4 = ymm4[0],ymm11[0],ymm4[2],ymm11[2]
	vunpckhpd	%ymm9, %ymm10, %ymm6    # ymm6 = ymm10[1],ymm9[1],ymm10[3],ymm9[3]
	vunpckhpd	%ymm8, %ymm9, %ymm3     # ymm3 = ymm9[1],ymm8[1],ymm9[3],ymm8[3]
	vfmadd213pd	%ymm4, %ymm2, %ymm6     # ymm6 = (ymm2 * ymm6) + ymm4
	vaddpd	%ymm3, %ymm6, %ymm4
	vmulpd	%ymm1, %ymm4, %ymm4
	vpermpd	$96, %ymm4, %ymm6               # ymm6 = ymm4[0,0,2,1]
	vpermpd	$230, %ymm4, %ymm4              # ymm4 = ymm4[2,1,2,3]
	vblendpd	$10, %ymm6, %ymm5, %ymm5        # ymm5 = ymm5[0],ymm6[1],ymm5[2],ymm6[3]
	vshufpd	$8, %ymm4, %ymm7, %ymm4         # ymm4 = ymm7[0],ymm4[0],ymm7[2],ymm4[3]
	vmovupd	%ymm4, 32(%rdx,%rdi)
	vmovupd	%ymm5, (%rdx,%rdi)
	addq	$64, %rdi
	addq	$-4, %r8
	jne	.LBB0_4
# %bb.5:
	vextractf128	$1, %ymm3, %xmm1
	vpermilpd	$1, %xmm1, %xmm1        # xmm1 = xmm1[1,0]
.LBB0_6:
	vmovsd	.LCPI0_0(%rip), %xmm2           # xmm2 = mem[0],zero
	.p2align	4, 0x90
.LBB0_7:                                # =>This Inner Loop Header: Depth=1
	vmovsd	8(%rcx,%rax,8), %xmm3           # xmm3 = mem[0],zero
	vfmadd213sd	-16(%rcx,%rax,8), %xmm2, %xmm1 # xmm1 = (xmm2 * xmm1) + mem
	leaq	2(%rax), %rdi
	vmovsd	%xmm3, (%rdx,%rax,8)
	vmovsd	16(%rcx,%rax,8), %xmm3          # xmm3 = mem[0],zero
	vaddsd	%xmm3, %xmm1, %xmm1
	vmulsd	%xmm0, %xmm1, %xmm1
	vmovsd	%xmm1, 8(%rdx,%rax,8)
	vmovapd	%xmm3, %xmm1
	movq	%rdi, %rax
	cmpq	%rsi, %rdi
	jl	.LBB0_7
.LBB0_8:
	vzeroupper
	retq
.Lfunc_end0:
	.size	rhs_string, .Lfunc_end0-rhs_string
                                        # -- End function
