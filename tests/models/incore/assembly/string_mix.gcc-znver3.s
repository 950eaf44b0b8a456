	.text
	.p2align 4
	.globl	rhs_string
	.type	rhs_string, @function
rhs_string:
.LFB0:
	cmpq	%rsi, %rdi
	jge	.L19
	leaq	-1(%rsi), %r10
	pushq	%rbp
	movq	%rdx, %r8
	movq	%rsi, %r9
	subq	%rdi, %r10
	movq	%rsp, %rbp
	vmovsd	%xmm0, %xmm0, %xmm4
	pushq	%r14
	movq	%r10, %r11
	pushq	%r13
	movq	%rcx, %rdx
	pushq	%r12
	shrq	%r11
	pushq	%rbx
	movq	%rdi, %rbx
	cmpq	$7, %r10
	jbe	.L7
	leaq	0(,%rdi,8), %rcx
	vbroadcastsd	.LC1(%rip), %ymm5
	shrq	$3, %r10
	vbroadcastsd	%xmm0, %ymm6
	leaq	(%rdx,%rcx), %rsi
	movq	%r10, %r12
	leaq	-16(%rdx,%rcx), %r14
	leaq	16(%rdx,%rcx), %r13
	vmovupd	-16(%rsi), %ymm3
	salq	$6, %r12
	addq	%r8, %rcx
	movl	$32, %eax
	addq	$32, %r12
	.p2align 4
	.p2align 3
.L4:
	vmovupd	-32(%rsi,%rax), %ymm7
	vunpcklpd	(%r14,%rax), %ymm3, %ymm3
	vunpcklpd	(%rsi,%rax), %ymm7, %ymm2
	vunpckhpd	(%rsi,%rax), %ymm7, %ymm1
	vmovupd	(%r14,%rax), %ymm7
	vpermpd	$216, %ymm3, %ymm3
	vpermpd	$216, %ymm2, %ymm2
	vpermpd	$216, %ymm1, %ymm1
	vfnmadd132pd	%ymm5, %ymm3, %ymm2
	vmovupd	0(%r13,%rax), %ymm3
	vunpcklpd	%ymm3, %ymm7, %ymm0
	vpermpd	$216, %ymm0, %ymm0
	vaddpd	%ymm2, %ymm0, %ymm0
	vpermpd	$68, %ymm1, %ymm2
	vpermpd	$238, %ymm1, %ymm1
	vmulpd	%ymm6, %ymm0, %ymm0
	vpermpd	$68, %ymm0, %ymm7
	vpermpd	$238, %ymm0, %ymm0
	vshufpd	$12, %ymm7, %ymm2, %ymm2
	vshufpd	$12, %ymm0, %ymm1, %ymm1
	vmovupd	%ymm2, -32(%rcx,%rax)
	vmovupd	%ymm1, (%rcx,%rax)
	addq	$64, %rax
	cmpq	%r12, %rax
	jne	.L4
	leaq	0(,%r10,4), %rsi
	leaq	(%rdi,%r10,8), %rdi
.L3:
	movq	%r11, %rcx
	subq	%rsi, %rcx
	cmpq	$1, %rcx
	jbe	.L5
	addq	%rsi, %rsi
	vmovddup	.LC1(%rip), %xmm5
	vmovddup	%xmm4, %xmm3
	andq	$-2, %rcx
	leaq	(%rbx,%rsi), %rax
	leaq	2(%rbx,%rsi), %rsi
	leaq	(%rdi,%rcx,2), %rdi
	salq	$3, %rax
	leaq	(%rdx,%rsi,8), %r10
	leaq	(%rdx,%rax), %r11
	vmovupd	-16(%rdx,%rax), %xmm6
	leaq	(%r8,%rax), %rsi
	vmovupd	(%r11), %xmm1
	vmovupd	16(%r11), %xmm0
	vunpckhpd	%xmm0, %xmm1, %xmm2
	vunpcklpd	%xmm0, %xmm1, %xmm0
	vunpcklpd	%xmm1, %xmm6, %xmm1
	vmovupd	(%r10), %xmm6
	vfnmadd231pd	%xmm5, %xmm0, %xmm1
	vmovhpd	16(%r10), %xmm6, %xmm0
	vaddpd	%xmm1, %xmm0, %xmm0
	vmulpd	%xmm3, %xmm0, %xmm0
	vunpcklpd	%xmm0, %xmm2, %xmm1
	vunpckhpd	%xmm0, %xmm2, %xmm2
	vmovupd	%xmm1, (%rsi)
	vmovupd	%xmm2, 16(%rsi)
.L5:
	movabsq	$-9223372036854775806, %r10
	leaq	0(,%rdi,8), %rcx
	leaq	-2(%r9), %rsi
	cmpq	%r10, %r9
	leaq	(%rdx,%rcx), %rax
	setge	%r11b
	cmpq	%rdi, %r9
	setg	%r10b
	testb	%r10b, %r11b
	je	.L9
	leaq	2(%rdi), %r10
	cmpq	%rsi, %r10
	jge	.L9
	vmovsd	(%rax), %xmm0
	vmovsd	.LC1(%rip), %xmm2
	leaq	6(%rdi), %r11
	vmovsd	16(%rdx,%rcx), %xmm3
	vmovsd	32(%rdx,%rcx), %xmm5
	vmovsd	24(%rdx,%rcx), %xmm6
	vmovsd	%xmm0, %xmm0, %xmm1
	vfnmadd213sd	-16(%rax), %xmm2, %xmm1
	leaq	4(%rdi), %rax
	vfnmadd231sd	%xmm2, %xmm3, %xmm0
	vaddsd	%xmm5, %xmm0, %xmm0
	vmulsd	%xmm4, %xmm0, %xmm0
	vunpcklpd	%xmm0, %xmm6, %xmm0
	vmovsd	8(%rdx,%rcx), %xmm6
	vaddsd	%xmm3, %xmm1, %xmm1
	vmulsd	%xmm4, %xmm1, %xmm1
	vunpcklpd	%xmm1, %xmm6, %xmm1
	vinsertf128	$0x1, %xmm0, %ymm1, %ymm0
	vmovupd	%ymm0, (%r8,%rcx)
	cmpq	%r11, %rsi
	jg	.L23
.L6:
	leaq	0(,%rax,8), %rdi
	leaq	8(,%rax,8), %rcx
	vmovsd	(%rdx,%rdi), %xmm3
	vmovsd	8(%rdx,%rcx), %xmm0
	vmovsd	(%rdx,%rcx), %xmm5
	vmovsd	%xmm3, %xmm3, %xmm1
	vfnmadd213sd	-16(%rdx,%rax,8), %xmm2, %xmm1
	addq	$2, %rax
	vaddsd	%xmm0, %xmm1, %xmm1
	vmulsd	%xmm4, %xmm1, %xmm1
	vunpcklpd	%xmm1, %xmm5, %xmm1
	vmovupd	%xmm1, (%r8,%rdi)
	cmpq	%rax, %r9
	jle	.L16
	vfnmadd132sd	%xmm2, %xmm3, %xmm0
	vaddsd	24(%rdx,%rcx), %xmm0, %xmm0
	vmulsd	%xmm4, %xmm0, %xmm0
	vmovsd	16(%rdx,%rcx), %xmm4
	vunpcklpd	%xmm0, %xmm4, %xmm0
	vmovupd	%xmm0, 8(%r8,%rcx)
	vzeroupper
.L17:
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%rbp
	ret
	.p2align 4
	.p2align 3
.L19:
	ret
	.p2align 4
	.p2align 3
.L16:
	vzeroupper
	jmp	.L17
.L9:
	vmovsd	.LC1(%rip), %xmm2
	movq	%rdi, %rax
	jmp	.L6
.L7:
	xorl	%esi, %esi
	jmp	.L3
.L23:
	vmovsd	48(%rdx,%rcx), %xmm1
	vfnmadd231sd	%xmm2, %xmm5, %xmm3
	leaq	8(%rdi), %rax
	vaddsd	%xmm1, %xmm3, %xmm0
	vfnmadd132sd	%xmm2, %xmm5, %xmm1
	vaddsd	64(%rdx,%rcx), %xmm1, %xmm1
	vmovsd	56(%rdx,%rcx), %xmm5
	vmulsd	%xmm4, %xmm0, %xmm0
	vmulsd	%xmm4, %xmm1, %xmm1
	vunpcklpd	%xmm1, %xmm5, %xmm1
	vmovsd	40(%rdx,%rcx), %xmm5
	vunpcklpd	%xmm0, %xmm5, %xmm0
	vinsertf128	$0x1, %xmm1, %ymm0, %ymm0
	vmovupd	%ymm0, 32(%r8,%rcx)
	jmp	.L6
.LFE0:
	.size	rhs_string, .-rhs_string
	.section	.rodata.cst8,"aM",@progbits,8
	.align 8
.LC1:
	.long	0
	.long	1073741824
