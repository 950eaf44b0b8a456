	.file	"unit.c"
	.text
	.p2align 4
	.globl	sweep_rhs_lc_fitzhugh_nagumo_1_simd4
	.type	sweep_rhs_lc_fitzhugh_nagumo_1_simd4, @function
sweep_rhs_lc_fitzhugh_nagumo_1_simd4:
.LFB0:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	vmovddup	%xmm5, %xmm7
	movq	%rsp, %rbp
	.cfi_def_cfa_register 6
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	andq	$-32, %rsp
	subq	$168, %rsp
	.cfi_offset 15, -24
	.cfi_offset 14, -32
	.cfi_offset 13, -40
	.cfi_offset 12, -48
	.cfi_offset 3, -56
	movq	56(%rbp), %rax
	movq	%rdx, 72(%rsp)
	movl	$2, %edx
	movq	16(%rbp), %r10
	cmpq	%rdx, %rdi
	movq	24(%rbp), %r11
	movq	%rcx, 56(%rsp)
	movq	%r8, 40(%rsp)
	cmovge	%rdi, %rdx
	movq	%r9, 32(%rsp)
	vmovsd	%xmm0, 24(%rsp)
	vmovsd	%xmm1, (%rsp)
	vmovsd	%xmm2, -8(%rsp)
	vmovsd	%xmm3, -16(%rsp)
	vmovapd	%xmm7, 8(%rsp)
	subq	$2, %rax
	cmpq	%rsi, %rax
	movq	32(%rbp), %r14
	movq	40(%rbp), %rbx
	cmovle	%rax, %rsi
	movq	%rsi, -32(%rsp)
	cmpq	%rdx, %rsi
	jle	.L12
	movq	%rsi, %rax
	vmovsd	%xmm3, %xmm3, %xmm15
	vmovsd	%xmm4, %xmm4, %xmm26
	vmovq	%rdx, %xmm3
	subq	%rdx, %rax
	decq	%rax
	movq	%rax, %rsi
	shrq	%rsi
	vmovq	%rsi, %xmm6
	cmpq	$7, %rax
	jbe	.L7
	leaq	0(,%rdx,8), %rcx
	shrq	$3, %rax
	vbroadcastsd	%xmm1, %ymm28
	vbroadcastsd	%xmm2, %ymm29
	vmovq	%rax, %xmm4
	leaq	-16(%r10,%rcx), %rax
	leaq	16(%r10,%rcx), %rdi
	leaq	-16(%r14,%rcx), %rsi
	movq	%rax, -40(%rsp)
	movq	72(%rsp), %rax
	movq	%rdi, 104(%rsp)
	leaq	16(%r11,%rcx), %rdi
	movq	%rdi, 120(%rsp)
	movq	%rsi, -24(%rsp)
	leaq	(%r14,%rcx), %rdi
	leaq	(%rbx,%rcx), %rsi
	leaq	16(%r14,%rcx), %r12
	leaq	(%r10,%rcx), %r9
	leaq	(%r11,%rcx), %r8
	leaq	-16(%r11,%rcx), %r15
	vmovupd	-16(%rdi), %ymm19
	vmovupd	-16(%rsi), %ymm18
	movq	%r12, 136(%rsp)
	leaq	16(%rbx,%rcx), %r12
	addq	%rcx, %rax
	movq	%r12, 152(%rsp)
	movq	48(%rbp), %r12
	leaq	-16(%rbx,%rcx), %r13
	movq	%rax, -48(%rsp)
	movq	56(%rsp), %rax
	vmovq	%xmm4, -72(%rsp)
	vmovq	%xmm6, -80(%rsp)
	movq	%rdx, -88(%rsp)
	movq	%rdx, -96(%rsp)
	movq	%r9, %r14
	movq	%r15, %rbx
	vbroadcastsd	%xmm26, %ymm24
	vbroadcastsd	%xmm15, %ymm23
	vbroadcastsd	%xmm5, %ymm5
	vbroadcastsd	%xmm0, %ymm27
	addq	%rcx, %r12
	vmovupd	-16(%r9), %ymm2
	vmovupd	-16(%r8), %ymm1
	movq	%r8, %r9
	addq	%rcx, %rax
	vmovdqa	.LC0(%rip), %ymm7
	vmovdqa64	.LC1(%rip), %ymm20
	movq	%r13, %r8
	movq	%rax, -56(%rsp)
	movq	40(%rsp), %rax
	vbroadcastsd	.LC3(%rip), %ymm30
	vbroadcastsd	.LC5(%rip), %ymm31
	vmovapd	%ymm18, %ymm3
	vmovapd	%ymm28, %ymm18
	vmovdqa64	.LC38(%rip), %ymm22
	vmovdqa64	.LC39(%rip), %ymm21
	vmovq	-48(%rsp), %xmm28
	movq	-56(%rsp), %r10
	addq	%rcx, %rax
	movq	%rax, -64(%rsp)
	movq	32(%rsp), %rax
	movq	-64(%rsp), %r11
	addq	%rax, %rcx
	vmovq	%xmm4, %rax
	vmovapd	%ymm19, %ymm4
	vmovapd	%ymm29, %ymm19
	salq	$6, %rax
	movq	%rcx, %r15
	movq	%rax, 88(%rsp)
	movq	-40(%rsp), %r13
	xorl	%eax, %eax
	movq	-24(%rsp), %rcx
	vmovsd	%xmm26, -24(%rsp)
	jmp	.L4
	.p2align 4
	.p2align 3
.L8:
	vmovapd	%ymm26, %ymm2
	vmovapd	%ymm25, %ymm1
	vmovapd	%ymm17, %ymm4
	vmovapd	%ymm29, %ymm3
.L4:
	vmovupd	(%r14,%rax), %ymm16
	movq	104(%rsp), %rdx
	vpermt2pd	32(%r13,%rax), %ymm7, %ymm2
	vpermt2pd	32(%rbx,%rax), %ymm7, %ymm1
	vmovupd	32(%r13,%rax), %ymm6
	vmovupd	(%r9,%rax), %ymm15
	vpermt2pd	32(%rcx,%rax), %ymm7, %ymm4
	vpermt2pd	32(%r8,%rax), %ymm7, %ymm3
	vmovupd	(%rdi,%rax), %ymm14
	vmovupd	(%rsi,%rax), %ymm13
	vmovupd	(%r14,%rax), %ymm12
	vmovupd	(%rdi,%rax), %ymm11
	vmovupd	32(%rdx,%rax), %ymm26
	movq	120(%rsp), %rdx
	vmovupd	(%rsi,%rax), %ymm10
	vpermt2pd	32(%r14,%rax), %ymm7, %ymm16
	vmovupd	32(%rdx,%rax), %ymm25
	movq	136(%rsp), %rdx
	vmulpd	%ymm16, %ymm16, %ymm0
	vpermt2pd	32(%r9,%rax), %ymm7, %ymm15
	vfnmadd231pd	%ymm30, %ymm16, %ymm2
	vpermt2pd	32(%rdi,%rax), %ymm7, %ymm14
	vpermt2pd	32(%rsi,%rax), %ymm7, %ymm13
	vfnmadd231pd	%ymm30, %ymm15, %ymm1
	vpermt2pd	32(%r14,%rax), %ymm20, %ymm12
	vpermt2pd	32(%rdi,%rax), %ymm20, %ymm11
	vmulpd	%ymm16, %ymm0, %ymm0
	vfnmadd231pd	%ymm30, %ymm14, %ymm4
	vpermt2pd	%ymm26, %ymm7, %ymm6
	vmovupd	32(%rdx,%rax), %ymm17
	movq	152(%rsp), %rdx
	vpermt2pd	32(%rsi,%rax), %ymm20, %ymm10
	vaddpd	%ymm2, %ymm6, %ymm6
	vmovupd	(%r9,%rax), %ymm2
	vdivpd	%ymm31, %ymm0, %ymm0
	vfmadd132pd	%ymm24, %ymm16, %ymm6
	vmovupd	32(%rdx,%rax), %ymm29
	vaddpd	%ymm16, %ymm27, %ymm16
	vmovq	%xmm28, %rdx
	vpermt2pd	32(%r9,%rax), %ymm20, %ymm2
	vsubpd	%ymm0, %ymm6, %ymm6
	vmovupd	32(%rbx,%rax), %ymm0
	vsubpd	%ymm12, %ymm6, %ymm6
	vfnmadd132pd	%ymm18, %ymm16, %ymm12
	vaddpd	%ymm23, %ymm6, %ymm6
	vmulpd	%ymm12, %ymm19, %ymm12
	vpermt2pd	%ymm25, %ymm7, %ymm0
	vaddpd	%ymm1, %ymm0, %ymm0
	vmulpd	%ymm15, %ymm15, %ymm1
	vmulpd	%ymm15, %ymm1, %ymm1
	vfmadd132pd	%ymm24, %ymm15, %ymm0
	vaddpd	%ymm15, %ymm27, %ymm15
	vdivpd	%ymm31, %ymm1, %ymm1
	vsubpd	%ymm1, %ymm0, %ymm0
	vmovapd	%ymm4, %ymm1
	vmovupd	32(%rcx,%rax), %ymm4
	vsubpd	%ymm2, %ymm0, %ymm0
	vfnmadd132pd	%ymm18, %ymm15, %ymm2
	vaddpd	%ymm23, %ymm0, %ymm0
	vmulpd	%ymm19, %ymm2, %ymm2
	vpermt2pd	%ymm17, %ymm7, %ymm4
	vaddpd	%ymm1, %ymm4, %ymm4
	vmulpd	%ymm14, %ymm14, %ymm1
	vmulpd	%ymm14, %ymm1, %ymm1
	vfmadd132pd	%ymm24, %ymm14, %ymm4
	vaddpd	%ymm14, %ymm27, %ymm14
	vdivpd	%ymm31, %ymm1, %ymm1
	vsubpd	%ymm1, %ymm4, %ymm4
	vmovapd	%ymm3, %ymm1
	vmovupd	32(%r8,%rax), %ymm3
	vmulpd	.LC6(%rip), %ymm0, %ymm9
	vmulpd	.LC10(%rip), %ymm0, %ymm8
	vfmadd231pd	.LC8(%rip), %ymm6, %ymm9
	vsubpd	%ymm11, %ymm4, %ymm4
	vfmadd231pd	.LC12(%rip), %ymm6, %ymm8
	vfnmadd231pd	%ymm30, %ymm13, %ymm1
	vaddpd	%ymm23, %ymm4, %ymm4
	vfnmadd132pd	%ymm18, %ymm14, %ymm11
	vfmadd231pd	.LC22(%rip), %ymm4, %ymm9
	vpermt2pd	%ymm29, %ymm7, %ymm3
	vfmadd231pd	.LC24(%rip), %ymm4, %ymm8
	vaddpd	%ymm1, %ymm3, %ymm3
	vmulpd	%ymm13, %ymm13, %ymm1
	vmulpd	%ymm19, %ymm11, %ymm11
	vmulpd	%ymm13, %ymm1, %ymm1
	vfmadd132pd	%ymm24, %ymm13, %ymm3
	vaddpd	%ymm13, %ymm27, %ymm13
	vdivpd	%ymm31, %ymm1, %ymm1
	vsubpd	%ymm1, %ymm3, %ymm3
	vmulpd	.LC14(%rip), %ymm0, %ymm1
	vmulpd	.LC18(%rip), %ymm0, %ymm0
	vfmadd231pd	.LC16(%rip), %ymm6, %ymm1
	vfmadd231pd	.LC20(%rip), %ymm6, %ymm0
	vsubpd	%ymm10, %ymm3, %ymm3
	vmulpd	.LC10(%rip), %ymm2, %ymm6
	vfnmadd132pd	%ymm18, %ymm13, %ymm10
	vmulpd	.LC6(%rip), %ymm2, %ymm13
	vaddpd	%ymm23, %ymm3, %ymm3
	vfmadd231pd	.LC26(%rip), %ymm4, %ymm1
	vfmadd231pd	.LC28(%rip), %ymm4, %ymm0
	vfmadd231pd	.LC30(%rip), %ymm3, %ymm9
	vfmadd231pd	.LC32(%rip), %ymm3, %ymm8
	vmovupd	(%r12,%rax), %ymm4
	vfmadd231pd	.LC8(%rip), %ymm12, %ymm13
	vfmadd231pd	.LC12(%rip), %ymm12, %ymm6
	vfmadd231pd	.LC34(%rip), %ymm3, %ymm1
	vfmadd231pd	.LC36(%rip), %ymm3, %ymm0
	vmulpd	%ymm19, %ymm10, %ymm10
	vmovupd	(%r12,%rax), %ymm3
	vfmadd231pd	.LC22(%rip), %ymm11, %ymm13
	vfmadd231pd	.LC24(%rip), %ymm11, %ymm6
	vpermt2pd	32(%r12,%rax), %ymm20, %ymm4
	vpermt2pd	32(%r12,%rax), %ymm7, %ymm3
	vfmadd132pd	%ymm5, %ymm3, %ymm9
	vfmadd132pd	%ymm5, %ymm3, %ymm8
	vfmadd132pd	%ymm5, %ymm3, %ymm1
	vfmadd231pd	%ymm0, %ymm5, %ymm3
	vmulpd	.LC14(%rip), %ymm2, %ymm0
	vmulpd	.LC18(%rip), %ymm2, %ymm2
	vfmadd231pd	.LC16(%rip), %ymm12, %ymm0
	vfmadd231pd	.LC20(%rip), %ymm12, %ymm2
	vfmadd231pd	.LC26(%rip), %ymm11, %ymm0
	vfmadd231pd	.LC28(%rip), %ymm11, %ymm2
	vfmadd231pd	.LC30(%rip), %ymm10, %ymm13
	vfmadd231pd	.LC32(%rip), %ymm10, %ymm6
	vfmadd231pd	.LC34(%rip), %ymm10, %ymm0
	vfmadd231pd	.LC36(%rip), %ymm10, %ymm2
	vmovapd	%ymm9, %ymm10
	vfmadd132pd	%ymm5, %ymm4, %ymm13
	vfmadd132pd	%ymm5, %ymm4, %ymm6
	vfmadd132pd	%ymm5, %ymm4, %ymm0
	vfmadd132pd	%ymm5, %ymm4, %ymm2
	vpermt2pd	%ymm13, %ymm21, %ymm9
	vpermt2pd	%ymm13, %ymm22, %ymm10
	vmovupd	%ymm9, 32(%rdx,%rax)
	vmovapd	%ymm8, %ymm9
	vmovupd	%ymm10, (%rdx,%rax)
	vpermt2pd	%ymm6, %ymm21, %ymm8
	vpermt2pd	%ymm6, %ymm22, %ymm9
	vmovapd	%ymm1, %ymm6
	vmovupd	%ymm8, 32(%r10,%rax)
	movq	88(%rsp), %rdx
	vpermt2pd	%ymm0, %ymm22, %ymm6
	vpermt2pd	%ymm0, %ymm21, %ymm1
	vmovapd	%ymm3, %ymm0
	vpermt2pd	%ymm2, %ymm22, %ymm0
	vpermt2pd	%ymm2, %ymm21, %ymm3
	vmovupd	%ymm9, (%r10,%rax)
	vmovupd	%ymm6, (%r11,%rax)
	vmovupd	%ymm1, 32(%r11,%rax)
	vmovupd	%ymm0, (%r15,%rax)
	vmovupd	%ymm3, 32(%r15,%rax)
	addq	$64, %rax
	cmpq	%rdx, %rax
	jne	.L8
	vmovq	-72(%rsp), %xmm4
	movq	-96(%rsp), %rdx
	vmovq	-80(%rsp), %xmm6
	vmovq	-88(%rsp), %xmm3
	vmovsd	-24(%rsp), %xmm26
	movq	16(%rbp), %r10
	movq	24(%rbp), %r11
	movq	32(%rbp), %r14
	movq	40(%rbp), %rbx
	vmovq	%xmm4, %rax
	leaq	0(,%rax,4), %rcx
	leaq	(%rdx,%rax,8), %rdx
	vzeroupper
.L3:
	vmovq	%xmm6, %rax
	subq	%rcx, %rax
	movq	%rax, -24(%rsp)
	cmpq	$1, %rax
	jbe	.L15
	addq	%rcx, %rcx
	vmovq	%xmm3, %rax
	vmovq	%xmm3, %rsi
	vmovddup	.LC3(%rip), %xmm13
	addq	%rcx, %rax
	leaq	2(%rsi,%rcx), %rcx
	vmovddup	.LC5(%rip), %xmm8
	vmovddup	%xmm26, %xmm7
	salq	$3, %rax
	salq	$3, %rcx
	movq	48(%rbp), %r15
	movq	72(%rsp), %r9
	leaq	(%r10,%rax), %rdi
	leaq	(%r11,%rax), %rsi
	leaq	(%r11,%rcx), %r13
	vmovupd	-16(%r10,%rax), %xmm2
	vmovq	%rdi, %xmm4
	vmovq	%rsi, %xmm6
	leaq	(%r10,%rcx), %rdi
	leaq	(%r14,%rcx), %rsi
	addq	%rbx, %rcx
	leaq	(%r14,%rax), %r12
	vmovupd	-16(%r14,%rax), %xmm14
	leaq	(%rbx,%rax), %r8
	vmovq	%rcx, %xmm25
	movq	40(%rsp), %rcx
	vmovq	%r8, %xmm3
	movq	56(%rsp), %r8
	addq	%rax, %r15
	addq	%rax, %r9
	vmovddup	-16(%rsp), %xmm5
	vmovddup	24(%rsp), %xmm29
	vmovddup	.LC7(%rip), %xmm16
	vmovddup	.LC9(%rip), %xmm17
	addq	%rax, %rcx
	addq	%rax, %r8
	vmovq	%rcx, %xmm15
	movq	32(%rsp), %rcx
	addq	%rax, %rcx
	vmovq	%rcx, %xmm0
	vmovq	%xmm4, %rcx
	vmovupd	(%rcx), %xmm1
	vmovupd	16(%rcx), %xmm30
	vunpcklpd	%xmm30, %xmm1, %xmm4
	vunpckhpd	%xmm30, %xmm1, %xmm30
	vunpcklpd	%xmm1, %xmm2, %xmm1
	vmovupd	(%rdi), %xmm2
	vfnmadd231pd	%xmm13, %xmm4, %xmm1
	vmovhpd	16(%rdi), %xmm2, %xmm12
	vmovq	%xmm6, %rdi
	vmovupd	-16(%r11,%rax), %xmm6
	vaddpd	%xmm1, %xmm12, %xmm12
	vmulpd	%xmm4, %xmm4, %xmm1
	vmovupd	(%rdi), %xmm2
	vmulpd	%xmm4, %xmm1, %xmm1
	vfmadd132pd	%xmm7, %xmm4, %xmm12
	vaddpd	%xmm29, %xmm4, %xmm4
	vdivpd	%xmm8, %xmm1, %xmm1
	vsubpd	%xmm1, %xmm12, %xmm12
	vmovupd	16(%rdi), %xmm1
	vsubpd	%xmm30, %xmm12, %xmm12
	vaddpd	%xmm5, %xmm12, %xmm12
	vunpcklpd	%xmm1, %xmm2, %xmm11
	vunpckhpd	%xmm1, %xmm2, %xmm1
	vunpcklpd	%xmm2, %xmm6, %xmm2
	vmovupd	0(%r13), %xmm6
	vfnmadd231pd	%xmm13, %xmm11, %xmm2
	vmovhpd	16(%r13), %xmm6, %xmm20
	vmovupd	16(%r12), %xmm6
	vaddpd	%xmm2, %xmm20, %xmm20
	vmulpd	%xmm11, %xmm11, %xmm2
	vmulpd	%xmm11, %xmm2, %xmm2
	vfmadd132pd	%xmm7, %xmm11, %xmm20
	vaddpd	%xmm29, %xmm11, %xmm11
	vdivpd	%xmm8, %xmm2, %xmm2
	vsubpd	%xmm2, %xmm20, %xmm20
	vmovupd	(%r12), %xmm2
	vsubpd	%xmm1, %xmm20, %xmm20
	vaddpd	%xmm5, %xmm20, %xmm20
	vunpcklpd	%xmm6, %xmm2, %xmm10
	vunpckhpd	%xmm6, %xmm2, %xmm6
	vunpcklpd	%xmm2, %xmm14, %xmm2
	vmovupd	(%rsi), %xmm14
	vfnmadd231pd	%xmm13, %xmm10, %xmm2
	vmovhpd	16(%rsi), %xmm14, %xmm9
	vmovq	%xmm3, %rsi
	vaddpd	%xmm2, %xmm9, %xmm9
	vmulpd	%xmm10, %xmm10, %xmm2
	vmovupd	16(%rsi), %xmm14
	vmulpd	%xmm10, %xmm2, %xmm2
	vfmadd132pd	%xmm7, %xmm10, %xmm9
	vaddpd	%xmm29, %xmm10, %xmm10
	vdivpd	%xmm8, %xmm2, %xmm2
	vsubpd	%xmm2, %xmm9, %xmm9
	vmovupd	(%rsi), %xmm2
	vsubpd	%xmm6, %xmm9, %xmm9
	vaddpd	%xmm5, %xmm9, %xmm9
	vunpcklpd	%xmm14, %xmm2, %xmm3
	vunpckhpd	%xmm14, %xmm2, %xmm18
	vmovupd	-16(%rbx,%rax), %xmm14
	vmovq	%xmm25, %rax
	vmovddup	.LC11(%rip), %xmm25
	vunpcklpd	%xmm2, %xmm14, %xmm2
	vfnmadd132pd	%xmm3, %xmm2, %xmm13
	vmovupd	(%rax), %xmm2
	vmovhpd	16(%rax), %xmm2, %xmm2
	vmovq	%xmm15, %rax
	vaddpd	%xmm13, %xmm2, %xmm2
	vfmadd132pd	%xmm7, %xmm3, %xmm2
	vmulpd	%xmm3, %xmm3, %xmm7
	vmulpd	%xmm3, %xmm7, %xmm7
	vaddpd	%xmm29, %xmm3, %xmm3
	vdivpd	%xmm8, %xmm7, %xmm7
	vmulpd	%xmm16, %xmm20, %xmm8
	vfmadd231pd	%xmm17, %xmm12, %xmm8
	vsubpd	%xmm7, %xmm2, %xmm2
	vmulpd	%xmm25, %xmm20, %xmm7
	vsubpd	%xmm18, %xmm2, %xmm2
	vaddpd	%xmm5, %xmm2, %xmm2
	vmovddup	.LC13(%rip), %xmm5
	vmovddup	.LC15(%rip), %xmm14
	vmovddup	.LC17(%rip), %xmm13
	vmovddup	.LC19(%rip), %xmm19
	vmovddup	.LC21(%rip), %xmm24
	vmovddup	.LC27(%rip), %xmm27
	vmovddup	.LC29(%rip), %xmm28
	vmovupd	(%r15), %xmm31
	vmovddup	.LC33(%rip), %xmm21
	vmovddup	.LC35(%rip), %xmm22
	vmovddup	.LC37(%rip), %xmm23
	vfmadd231pd	%xmm5, %xmm12, %xmm7
	vmovapd	%xmm5, 152(%rsp)
	vmovapd	%xmm14, 136(%rsp)
	vmulpd	%xmm14, %xmm20, %xmm5
	vmulpd	%xmm19, %xmm20, %xmm20
	vmovapd	%xmm13, 120(%rsp)
	vmovddup	.LC23(%rip), %xmm14
	vfmadd231pd	%xmm13, %xmm12, %xmm5
	vmovddup	.LC25(%rip), %xmm13
	vfmadd132pd	%xmm24, %xmm20, %xmm12
	vmovddup	.LC31(%rip), %xmm20
	vfmadd231pd	%xmm27, %xmm9, %xmm5
	vfmadd231pd	%xmm14, %xmm9, %xmm8
	vmovapd	%xmm14, 104(%rsp)
	vfmadd231pd	%xmm13, %xmm9, %xmm7
	vfmadd132pd	%xmm28, %xmm12, %xmm9
	vmovupd	16(%r15), %xmm12
	vmovapd	%xmm13, 88(%rsp)
	vfmadd231pd	%xmm22, %xmm2, %xmm5
	vfmadd231pd	%xmm20, %xmm2, %xmm8
	vfmadd231pd	%xmm21, %xmm2, %xmm7
	vfmadd132pd	%xmm23, %xmm9, %xmm2
	vunpcklpd	%xmm12, %xmm31, %xmm9
	vunpckhpd	%xmm12, %xmm31, %xmm12
	vmovapd	8(%rsp), %xmm31
	vfmadd132pd	%xmm31, %xmm9, %xmm8
	vfmadd132pd	%xmm31, %xmm9, %xmm7
	vfmadd132pd	%xmm31, %xmm9, %xmm5
	vfmadd231pd	%xmm31, %xmm2, %xmm9
	vmovddup	(%rsp), %xmm2
	vfnmadd231pd	%xmm2, %xmm30, %xmm4
	vmovddup	-8(%rsp), %xmm30
	vfnmadd132pd	%xmm2, %xmm11, %xmm1
	vfnmadd132pd	%xmm2, %xmm10, %xmm6
	vfnmadd231pd	%xmm18, %xmm2, %xmm3
	vmulpd	%xmm1, %xmm30, %xmm1
	vmulpd	136(%rsp), %xmm1, %xmm11
	vmulpd	%xmm30, %xmm4, %xmm4
	vfmadd231pd	120(%rsp), %xmm4, %xmm11
	vmulpd	%xmm25, %xmm1, %xmm2
	vfmadd231pd	152(%rsp), %xmm4, %xmm2
	vmulpd	%xmm16, %xmm1, %xmm10
	vmulpd	%xmm19, %xmm1, %xmm1
	vfmadd231pd	%xmm17, %xmm4, %xmm10
	vmulpd	%xmm6, %xmm30, %xmm6
	vfmadd231pd	%xmm24, %xmm4, %xmm1
	vmulpd	%xmm3, %xmm30, %xmm3
	vfmadd231pd	%xmm14, %xmm6, %xmm10
	vfmadd231pd	%xmm27, %xmm6, %xmm11
	vfmadd231pd	%xmm28, %xmm6, %xmm1
	vfmadd231pd	%xmm13, %xmm6, %xmm2
	vmovapd	%xmm31, %xmm13
	vfmadd231pd	%xmm20, %xmm3, %xmm10
	vfmadd231pd	%xmm22, %xmm3, %xmm11
	vfmadd231pd	%xmm23, %xmm3, %xmm1
	vfmadd231pd	%xmm21, %xmm3, %xmm2
	vfmadd132pd	%xmm31, %xmm12, %xmm10
	vfmadd132pd	%xmm31, %xmm12, %xmm11
	vfmadd132pd	%xmm31, %xmm12, %xmm1
	vfmadd132pd	%xmm31, %xmm12, %xmm2
	vunpcklpd	%xmm10, %xmm8, %xmm3
	vunpckhpd	%xmm10, %xmm8, %xmm10
	vmovupd	%xmm3, (%r9)
	vmovupd	%xmm10, 16(%r9)
	vunpcklpd	%xmm2, %xmm7, %xmm3
	vunpckhpd	%xmm2, %xmm7, %xmm2
	vmovupd	%xmm2, 16(%r8)
	vunpcklpd	%xmm11, %xmm5, %xmm2
	vunpckhpd	%xmm11, %xmm5, %xmm5
	vmovupd	%xmm3, (%r8)
	vmovupd	%xmm2, (%rax)
	vmovupd	%xmm5, 16(%rax)
	vunpcklpd	%xmm1, %xmm9, %xmm2
	vmovq	%xmm0, %rax
	vmovupd	%xmm2, (%rax)
	vunpckhpd	%xmm1, %xmm9, %xmm9
	movq	-24(%rsp), %r15
	vmovupd	%xmm9, 16(%rax)
	andq	$-2, %r15
	leaq	(%rdx,%r15,2), %rdx
.L5:
	leaq	0(,%rdx,8), %rax
	movq	56(%rsp), %r8
	movq	40(%rsp), %r15
	vmovapd	%xmm17, 56(%rsp)
	leaq	(%rbx,%rax), %rdi
	leaq	(%r14,%rax), %rsi
	leaq	(%r11,%rax), %rcx
	addq	%r10, %rax
	vmovsd	-16(%rdi), %xmm31
	vmovsd	-16(%rcx), %xmm1
	vmovapd	%xmm19, 40(%rsp)
	vmovsd	-16(%rax), %xmm2
	vmovsd	(%rdi), %xmm9
	vmovsd	-16(%rsi), %xmm10
	vmovsd	(%rsi), %xmm8
	movq	72(%rsp), %rdi
	vmovapd	%xmm16, 72(%rsp)
	vmovsd	(%rcx), %xmm7
	vmovsd	(%rax), %xmm6
	vmovsd	.LC3(%rip), %xmm12
	vmovsd	.LC5(%rip), %xmm11
	vmovsd	24(%rsp), %xmm14
	vmovsd	(%rsp), %xmm15
	vmovsd	-8(%rsp), %xmm18
	vmovsd	%xmm31, %xmm31, %xmm5
	vmovsd	%xmm1, %xmm1, %xmm0
	vmovsd	-16(%rsp), %xmm29
	movq	-32(%rsp), %rsi
	vmovapd	%xmm28, %xmm31
	movq	32(%rsp), %r13
	movq	48(%rbp), %r12
	vmovsd	%xmm2, %xmm2, %xmm1
	vmovapd	%xmm27, %xmm28
	jmp	.L6
	.p2align 4
	.p2align 3
.L9:
	vmovsd	%xmm19, %xmm19, %xmm6
	vmovsd	%xmm17, %xmm17, %xmm7
	vmovsd	%xmm16, %xmm16, %xmm8
	vmovsd	%xmm30, %xmm30, %xmm9
.L6:
	vmulsd	%xmm6, %xmm6, %xmm2
	vmovsd	16(%r10,%rdx,8), %xmm19
	vfnmadd231sd	%xmm12, %xmm6, %xmm1
	vmovsd	16(%r11,%rdx,8), %xmm17
	vmovsd	16(%r14,%rdx,8), %xmm16
	vmovsd	16(%rbx,%rdx,8), %xmm30
	vmovsd	8(%r10,%rdx,8), %xmm3
	vmulsd	%xmm6, %xmm2, %xmm2
	vmulsd	%xmm7, %xmm7, %xmm4
	vdivsd	%xmm11, %xmm2, %xmm2
	vfnmadd231sd	%xmm12, %xmm7, %xmm0
	vmulsd	%xmm7, %xmm4, %xmm4
	vfnmadd231sd	%xmm12, %xmm9, %xmm5
	vaddsd	%xmm19, %xmm1, %xmm1
	vaddsd	%xmm17, %xmm0, %xmm0
	vfmadd132sd	%xmm26, %xmm6, %xmm1
	vfmadd132sd	%xmm26, %xmm7, %xmm0
	vdivsd	%xmm11, %xmm4, %xmm4
	vsubsd	%xmm2, %xmm1, %xmm1
	vmovsd	8(%r11,%rdx,8), %xmm2
	vsubsd	%xmm3, %xmm1, %xmm1
	vaddsd	%xmm29, %xmm1, %xmm1
	vsubsd	%xmm4, %xmm0, %xmm0
	vsubsd	%xmm2, %xmm0, %xmm0
	vaddsd	%xmm29, %xmm0, %xmm4
	vmovsd	%xmm10, %xmm10, %xmm0
	vmulsd	%xmm8, %xmm8, %xmm10
	vfnmadd231sd	%xmm12, %xmm8, %xmm0
	vmulsd	%xmm8, %xmm10, %xmm10
	vaddsd	%xmm16, %xmm0, %xmm0
	vdivsd	%xmm11, %xmm10, %xmm10
	vfmadd132sd	%xmm26, %xmm8, %xmm0
	vsubsd	%xmm10, %xmm0, %xmm0
	vsubsd	8(%r14,%rdx,8), %xmm0, %xmm0
	vaddsd	%xmm29, %xmm0, %xmm27
	vaddsd	%xmm30, %xmm5, %xmm0
	vmulsd	%xmm9, %xmm9, %xmm5
	vmulsd	%xmm9, %xmm5, %xmm5
	vfmadd132sd	%xmm26, %xmm9, %xmm0
	vdivsd	%xmm11, %xmm5, %xmm5
	vsubsd	%xmm5, %xmm0, %xmm0
	vsubsd	8(%rbx,%rdx,8), %xmm0, %xmm0
	vmovupd	(%r12,%rdx,8), %xmm5
	vaddsd	%xmm29, %xmm0, %xmm10
	vaddsd	%xmm14, %xmm6, %xmm0
	vfnmadd132sd	%xmm15, %xmm0, %xmm3
	vaddsd	%xmm14, %xmm7, %xmm0
	vfnmadd231sd	%xmm2, %xmm15, %xmm0
	vmulsd	%xmm3, %xmm18, %xmm3
	vmulsd	%xmm0, %xmm18, %xmm0
	vunpcklpd	%xmm3, %xmm1, %xmm1
	vunpcklpd	%xmm0, %xmm4, %xmm0
	vmulpd	40(%rsp), %xmm0, %xmm2
	vmulpd	136(%rsp), %xmm0, %xmm3
	vfmadd231pd	120(%rsp), %xmm1, %xmm3
	vmulpd	%xmm25, %xmm0, %xmm4
	vmulpd	72(%rsp), %xmm0, %xmm0
	vfmadd231pd	152(%rsp), %xmm1, %xmm4
	vfmadd231pd	56(%rsp), %xmm1, %xmm0
	vfmadd231pd	%xmm24, %xmm1, %xmm2
	vaddsd	%xmm8, %xmm14, %xmm1
	vfnmadd231sd	8(%r14,%rdx,8), %xmm15, %xmm1
	vmulsd	%xmm1, %xmm18, %xmm1
	vunpcklpd	%xmm1, %xmm27, %xmm1
	vfmadd231pd	88(%rsp), %xmm1, %xmm4
	vfmadd231pd	%xmm31, %xmm1, %xmm2
	vfmadd231pd	%xmm28, %xmm1, %xmm3
	vfmadd132pd	104(%rsp), %xmm0, %xmm1
	vaddsd	%xmm14, %xmm9, %xmm0
	vfnmadd231sd	8(%rbx,%rdx,8), %xmm15, %xmm0
	vmulsd	%xmm0, %xmm18, %xmm0
	vunpcklpd	%xmm0, %xmm10, %xmm0
	vmovsd	%xmm8, %xmm8, %xmm10
	vfmadd231pd	%xmm23, %xmm0, %xmm2
	vfmadd231pd	%xmm22, %xmm0, %xmm3
	vfmadd231pd	%xmm21, %xmm0, %xmm4
	vfmadd132pd	%xmm20, %xmm1, %xmm0
	vmovsd	%xmm6, %xmm6, %xmm1
	vfmadd132pd	%xmm13, %xmm5, %xmm2
	vfmadd132pd	%xmm13, %xmm5, %xmm3
	vfmadd132pd	%xmm13, %xmm5, %xmm0
	vfmadd132pd	%xmm13, %xmm5, %xmm4
	vmovsd	%xmm9, %xmm9, %xmm5
	vmovupd	%xmm3, (%r15,%rdx,8)
	vmovupd	%xmm2, 0(%r13,%rdx,8)
	vmovupd	%xmm0, (%rdi,%rdx,8)
	vmovupd	%xmm4, (%r8,%rdx,8)
	addq	$2, %rdx
	vmovsd	%xmm7, %xmm7, %xmm0
	cmpq	%rdx, %rsi
	jg	.L9
.L12:
	leaq	-40(%rbp), %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa 7, 8
	ret
	.p2align 4
	.p2align 3
.L7:
	.cfi_restore_state
	xorl	%ecx, %ecx
	jmp	.L3
	.p2align 4
	.p2align 3
.L15:
	vmovddup	.LC13(%rip), %xmm7
	vmovddup	.LC7(%rip), %xmm16
	vmovddup	.LC9(%rip), %xmm17
	vmovddup	.LC11(%rip), %xmm25
	vmovddup	.LC19(%rip), %xmm19
	vmovddup	.LC21(%rip), %xmm24
	vmovddup	.LC27(%rip), %xmm27
	vmovddup	.LC29(%rip), %xmm28
	vmovddup	.LC31(%rip), %xmm20
	vmovddup	.LC33(%rip), %xmm21
	vmovddup	.LC35(%rip), %xmm22
	vmovddup	.LC37(%rip), %xmm23
	vmovapd	8(%rsp), %xmm13
	vmovapd	%xmm7, 152(%rsp)
	vmovddup	.LC15(%rip), %xmm7
	vmovapd	%xmm7, 136(%rsp)
	vmovddup	.LC17(%rip), %xmm7
	vmovapd	%xmm7, 120(%rsp)
	vmovddup	.LC23(%rip), %xmm7
	vmovapd	%xmm7, 104(%rsp)
	vmovddup	.LC25(%rip), %xmm7
	vmovapd	%xmm7, 88(%rsp)
	jmp	.L5
	.cfi_endproc
.LFE0:
	.size	sweep_rhs_lc_fitzhugh_nagumo_1_simd4, .-sweep_rhs_lc_fitzhugh_nagumo_1_simd4
	.section	.rodata.cst32,"aM",@progbits,32
	.align 32
.LC0:
	.quad	0
	.quad	2
	.quad	4
	.quad	6
	.align 32
.LC1:
	.quad	1
	.quad	3
	.quad	5
	.quad	7
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC3:
	.long	0
	.long	1073741824
	.align 8
.LC5:
	.long	0
	.long	1074266112
	.section	.rodata.cst32
	.align 32
.LC6:
	.long	24654902
	.long	-1079729303
	.long	24654902
	.long	-1079729303
	.long	24654902
	.long	-1079729303
	.long	24654902
	.long	-1079729303
	.set	.LC7,.LC6
	.align 32
.LC8:
	.long	-1406635612
	.long	1069346184
	.long	-1406635612
	.long	1069346184
	.long	-1406635612
	.long	1069346184
	.long	-1406635612
	.long	1069346184
	.set	.LC9,.LC8
	.align 32
.LC10:
	.long	-1284819095
	.long	1070234484
	.long	-1284819095
	.long	1070234484
	.long	-1284819095
	.long	1070234484
	.long	-1284819095
	.long	1070234484
	.set	.LC11,.LC10
	.align 32
.LC12:
	.long	1983409918
	.long	1070465099
	.long	1983409918
	.long	1070465099
	.long	1983409918
	.long	1070465099
	.long	1983409918
	.long	1070465099
	.set	.LC13,.LC12
	.align 32
.LC14:
	.long	1847402784
	.long	1071250924
	.long	1847402784
	.long	1071250924
	.long	1847402784
	.long	1071250924
	.long	1847402784
	.long	1071250924
	.set	.LC15,.LC14
	.align 32
.LC16:
	.long	-1924382110
	.long	1070316602
	.long	-1924382110
	.long	1070316602
	.long	-1924382110
	.long	1070316602
	.long	-1924382110
	.long	1070316602
	.set	.LC17,.LC16
	.align 32
.LC18:
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.long	1800204581
	.long	1071175721
	.set	.LC19,.LC18
	.align 32
.LC20:
	.long	293668941
	.long	1070348315
	.long	293668941
	.long	1070348315
	.long	293668941
	.long	1070348315
	.long	293668941
	.long	1070348315
	.set	.LC21,.LC20
	.align 32
.LC22:
	.long	1018671864
	.long	1067084784
	.long	1018671864
	.long	1067084784
	.long	1018671864
	.long	1067084784
	.long	1018671864
	.long	1067084784
	.set	.LC23,.LC22
	.align 32
.LC24:
	.long	-1078809661
	.long	-1079476038
	.long	-1078809661
	.long	-1079476038
	.long	-1078809661
	.long	-1079476038
	.long	-1078809661
	.long	-1079476038
	.set	.LC25,.LC24
	.align 32
.LC26:
	.long	1067786766
	.long	1070084697
	.long	1067786766
	.long	1070084697
	.long	1067786766
	.long	1070084697
	.long	1067786766
	.long	1070084697
	.set	.LC27,.LC26
	.align 32
.LC28:
	.long	200444597
	.long	1070926793
	.long	200444597
	.long	1070926793
	.long	200444597
	.long	1070926793
	.long	200444597
	.long	1070926793
	.set	.LC29,.LC28
	.align 32
.LC30:
	.long	761842480
	.long	-1081849625
	.long	761842480
	.long	-1081849625
	.long	761842480
	.long	-1081849625
	.long	761842480
	.long	-1081849625
	.set	.LC31,.LC30
	.align 32
.LC32:
	.long	1351510239
	.long	1066430140
	.long	1351510239
	.long	1066430140
	.long	1351510239
	.long	1066430140
	.long	1351510239
	.long	1066430140
	.set	.LC33,.LC32
	.align 32
.LC34:
	.long	-1765417864
	.long	-1080507599
	.long	-1765417864
	.long	-1080507599
	.long	-1765417864
	.long	-1080507599
	.long	-1765417864
	.long	-1080507599
	.set	.LC35,.LC34
	.align 32
.LC36:
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.long	0
	.long	1068498944
	.set	.LC37,.LC36
	.align 32
.LC38:
	.quad	0
	.quad	4
	.quad	1
	.quad	5
	.align 32
.LC39:
	.quad	2
	.quad	6
	.quad	3
	.quad	7
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
