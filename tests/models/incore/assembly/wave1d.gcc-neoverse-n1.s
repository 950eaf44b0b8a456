	.arch armv8.2-a+crc+fp16+rcpc+dotprod+profile
	.text
	.align	2
	.p2align 5,,15
	.global	rhs_wave1d
	.type	rhs_wave1d, %function
rhs_wave1d:
.LFB0:
	cmp	x0, x1
	bge	.L15
	sub	x16, x1, x0
	stp	x29, x30, [sp, -32]!
	mov	x29, sp
	sub	x5, x16, #1
	cmp	x5, 4
	bls	.L3
	lsl	x4, x0, 3
	lsr	x17, x16, 1
	stp	x19, x20, [sp, 16]
	sub	x11, x4, #32
	sub	x8, x4, #8
	dup	v3.2d, v0.d[0]
	sub	x10, x4, #24
	sub	x9, x4, #16
	add	x5, x4, 8
	add	x12, x4, 16
	add	x6, x4, 24
	add	x7, x4, 32
	add	x18, x3, x11
	add	x20, x3, x8
	add	x30, x3, x10
	add	x19, x3, x9
	add	x15, x3, x5
	add	x12, x3, x12
	add	x6, x3, x6
	add	x7, x3, x7
	add	x8, x3, x4
	add	x11, x2, x4
	sub	x14, x17, #2
	cmp	x17, 3
	beq	.L8
	ldr	q17, [x3, x4]
	adrp	x4, .LC0
	fmov	v22.2d, -9.0e+0
	fmov	v21.2d, 9.0e+0
	mov	x9, 0
	mov	x5, 0
	ldr	q6, [x4, #:lo12:.LC0]
	adrp	x4, .LC1
	ldr	q5, [x4, #:lo12:.LC1]
	adrp	x4, .LC2
	ldr	q4, [x4, #:lo12:.LC2]
	adrp	x4, .LC3
	ldr	q24, [x8, -32]
	ldr	q23, [x8, -24]
	ldr	q20, [x8, -16]
	ldr	q19, [x8, -8]
	ldr	q16, [x8, 8]
	ldr	q7, [x8, 16]
	ldr	q18, [x4, #:lo12:.LC3]
.L5:
	fmul	v31.2d, v23.2d, v6.2d
	add	x10, x5, 4
	mov	x13, x9
	fmul	v2.2d, v19.2d, v6.2d
	ldr	q28, [x6, 32]
	add	x5, x5, 3
	fmul	v1.2d, v16.2d, v6.2d
	add	x9, x9, 48
	ldp	q30, q29, [x6]
	add	x6, x6, 48
	fmla	v31.2d, v24.2d, v22.2d
	ldr	q26, [x7, 32]
	mov	v24.16b, v7.16b
	ldp	q25, q27, [x7]
	add	x7, x7, 48
	fmla	v2.2d, v20.2d, v22.2d
	fmls	v31.2d, v20.2d, v5.2d
	mov	v23.16b, v30.16b
	fmla	v1.2d, v17.2d, v22.2d
	mov	v20.16b, v25.16b
	fmla	v31.2d, v19.2d, v4.2d
	mov	v19.16b, v29.16b
	fmls	v2.2d, v17.2d, v5.2d
	fmls	v1.2d, v7.2d, v5.2d
	fmls	v31.2d, v17.2d, v18.2d
	mov	v17.16b, v27.16b
	fmla	v2.2d, v16.2d, v4.2d
	fmla	v1.2d, v30.2d, v4.2d
	fmla	v31.2d, v16.2d, v4.2d
	mov	v16.16b, v28.16b
	fmls	v2.2d, v7.2d, v18.2d
	fmls	v1.2d, v25.2d, v18.2d
	fmls	v31.2d, v7.2d, v5.2d
	mov	v7.16b, v26.16b
	fmla	v2.2d, v30.2d, v4.2d
	fmla	v1.2d, v29.2d, v4.2d
	fmla	v31.2d, v30.2d, v6.2d
	fmls	v2.2d, v25.2d, v5.2d
	fmls	v1.2d, v27.2d, v5.2d
	fmla	v2.2d, v29.2d, v6.2d
	fmla	v1.2d, v28.2d, v6.2d
	mov	v28.16b, v31.16b
	fmls	v2.2d, v27.2d, v21.2d
	fmls	v28.2d, v25.2d, v21.2d
	fmls	v1.2d, v26.2d, v21.2d
	fmul	v2.2d, v3.2d, v2.2d
	fmul	v25.2d, v28.2d, v3.2d
	fmul	v1.2d, v3.2d, v1.2d
	stp	q25, q2, [x11]
	add	x11, x11, 48
	str	q1, [x11, -16]
	cmp	x14, x10
	bhi	.L5
	add	x18, x18, 48
	add	x10, x30, 48
	add	x9, x19, 48
	add	x20, x20, 48
	add	x8, x8, 48
	add	x15, x15, 48
	add	x12, x12, 48
	add	x18, x18, x13
	add	x30, x10, x13
	add	x19, x9, x13
	add	x20, x20, x13
	add	x8, x8, x13
	add	x15, x15, x13
	add	x12, x12, x13
.L4:
	adrp	x9, .LC1
	adrp	x4, .LC0
	fmov	v22.2d, -9.0e+0
	fmov	v21.2d, 9.0e+0
	ldr	q4, [x9, #:lo12:.LC1]
	adrp	x9, .LC2
	ldr	q2, [x9, #:lo12:.LC2]
	adrp	x9, .LC3
	ldr	q20, [x9, #:lo12:.LC3]
	ldr	q5, [x4, #:lo12:.LC0]
	mov	x4, 0
	.p2align 5,,15
.L6:
	add	x5, x5, 1
	ldr	q1, [x30, x4]
	ldr	q7, [x18, x4]
	ldr	q6, [x19, x4]
	fmul	v1.2d, v1.2d, v5.2d
	ldr	q19, [x20, x4]
	ldr	q18, [x8, x4]
	ldr	q17, [x15, x4]
	fmla	v1.2d, v7.2d, v22.2d
	ldr	q16, [x12, x4]
	ldr	q7, [x6, x4]
	fmls	v1.2d, v6.2d, v4.2d
	ldr	q6, [x7, x4]
	fmla	v1.2d, v19.2d, v2.2d
	fmls	v1.2d, v18.2d, v20.2d
	fmla	v1.2d, v17.2d, v2.2d
	fmls	v1.2d, v16.2d, v4.2d
	fmla	v1.2d, v7.2d, v5.2d
	fmls	v1.2d, v6.2d, v21.2d
	fmul	v1.2d, v1.2d, v3.2d
	str	q1, [x11, x4]
	add	x4, x4, 16
	cmp	x17, x5
	bhi	.L6
	tbz	x16, 0, .L18
	ldp	x19, x20, [sp, 16]
	and	x4, x16, -2
	add	x0, x0, x4
.L3:
	mov	x5, 4638707616191610880
	add	x4, x3, x0, lsl 3
	mov	x10, 140737488355328
	movk	x10, 0x408f, lsl 48
	fmov	d18, -9.0e+0
	mov	x9, 140737488355328
	fmov	d4, x5
	movk	x9, 0x40bf, lsl 48
	mov	x8, 7696581394432
	ldp	d3, d27, [x4, -32]
	movk	x8, 0x40cc, lsl 48
	lsl	x5, x0, 3
	fmov	d5, x10
	add	x7, x5, 32
	fmov	d16, 9.0e+0
	ldp	d22, d20, [x4, -16]
	add	x6, x0, 1
	fmov	d6, x9
	fmov	d7, x8
	ldr	d19, [x3, x5]
	ldp	d2, d21, [x4, 8]
	fmul	d1, d27, d4
	ldr	d23, [x4, 24]
	ldr	d17, [x3, x7]
	fmadd	d1, d3, d18, d1
	fmul	d3, d2, d6
	fmul	d24, d21, d5
	fmsub	d1, d22, d5, d1
	fmadd	d1, d20, d6, d1
	fmsub	d1, d19, d7, d1
	fadd	d1, d1, d3
	fsub	d1, d1, d24
	fmadd	d1, d23, d4, d1
	fmsub	d1, d17, d16, d1
	fmul	d1, d0, d1
	str	d1, [x2, x5]
	cmp	x1, x6
	ble	.L1
	fmul	d1, d22, d4
	fmul	d26, d21, d6
	ldr	d25, [x4, 40]
	add	x5, x2, x5
	add	x3, x0, 2
	fmadd	d1, d27, d18, d1
	fmsub	d1, d20, d5, d1
	fmadd	d1, d19, d6, d1
	fmsub	d1, d2, d7, d1
	fadd	d1, d1, d26
	fmsub	d1, d23, d5, d1
	fmadd	d1, d17, d4, d1
	fmsub	d1, d25, d16, d1
	fmul	d1, d0, d1
	str	d1, [x5, 8]
	cmp	x1, x3
	ble	.L1
	fmul	d1, d20, d4
	fmul	d28, d23, d6
	ldr	d27, [x4, 48]
	add	x3, x0, 3
	fmadd	d1, d22, d18, d1
	fmsub	d1, d19, d5, d1
	fadd	d1, d3, d1
	fmsub	d1, d21, d7, d1
	fadd	d1, d1, d28
	fmsub	d1, d17, d5, d1
	fmadd	d1, d25, d4, d1
	fmsub	d1, d27, d16, d1
	fmul	d1, d0, d1
	str	d1, [x5, 16]
	cmp	x1, x3
	ble	.L1
	fmul	d1, d19, d4
	ldr	d3, [x4, 56]
	add	x0, x0, 4
	fmadd	d1, d20, d18, d1
	fmsub	d1, d2, d5, d1
	fadd	d1, d26, d1
	fmsub	d1, d23, d7, d1
	fmadd	d1, d17, d6, d1
	fmsub	d1, d25, d5, d1
	fmadd	d1, d27, d4, d1
	fmsub	d1, d3, d16, d1
	fmul	d1, d0, d1
	str	d1, [x5, 24]
	cmp	x1, x0
	ble	.L1
	fmul	d1, d2, d4
	ldr	d2, [x4, 64]
	fmadd	d1, d19, d18, d1
	fsub	d1, d1, d24
	fadd	d1, d1, d28
	fmsub	d1, d17, d7, d1
	fmadd	d1, d25, d6, d1
	fmsub	d1, d27, d5, d1
	fmadd	d1, d3, d4, d1
	fmsub	d1, d2, d16, d1
	fmul	d0, d0, d1
	str	d0, [x2, x7]
.L1:
	ldp	x29, x30, [sp], 32
	ret
	.p2align 2,,3
.L18:
	ldp	x19, x20, [sp, 16]
	ldp	x29, x30, [sp], 32
	ret
	.p2align 2,,3
.L15:
	ret
.L8:
	mov	x5, 0
	b	.L4
.LFE0:
	.size	rhs_wave1d, .-rhs_wave1d
	.section	.rodata.cst16,"aM",@progbits,16
	.align	4
.LC0:
	.word	0
	.word	1080033280
	.word	0
	.word	1080033280
	.align	4
.LC1:
	.word	0
	.word	1083146240
	.word	0
	.word	1083146240
	.align	4
.LC2:
	.word	0
	.word	1086291968
	.word	0
	.word	1086291968
	.align	4
.LC3:
	.word	0
	.word	1087112960
	.word	0
	.word	1087112960
