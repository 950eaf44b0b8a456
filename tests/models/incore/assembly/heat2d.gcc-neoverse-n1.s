	.arch armv8.2-a+crc+fp16+rcpc+dotprod+profile
	.text
	.align	2
	.p2align 5,,15
	.global	rhs_heat2d
	.type	rhs_heat2d, %function
rhs_heat2d:
.LFB1:
	mul	x5, x2, x2
	dup	v6.2d, v0.d[0]
	sub	x5, x5, x2
	cmp	x2, x0
	bgt	.L2
	cmp	x5, x0
	csel	x15, x5, x0, le
	sdiv	x13, x15, x2
	mov	x14, x2
	mul	x0, x2, x13
	cmp	x2, x1
	ble	.L17
.L3:
	cmp	x14, x0
	ble	.L30
	fmov	d16, 4.0e+0
	fmov	d17, 2.0e+0
	madd	x13, x13, x2, x2
	fmov	v7.2d, 4.0e+0
	stp	x29, x30, [sp, -16]!
	mov	x29, sp
	.p2align 5,,15
.L15:
	cmp	x15, x0
	add	x10, x2, x0
	csel	x11, x15, x0, ge
	cmp	x10, x14
	csel	x12, x10, x14, le
	cmp	x11, x0
	ccmp	x12, x0, 4, le
	ble	.L5
	lsl	x1, x0, 3
	sub	x5, x0, x2
	ldr	d2, [x4, x10, lsl 3]
	add	x6, x4, x1
	ldr	d4, [x4, x1]
	ldr	d1, [x4, x5, lsl 3]
	ldr	d3, [x6, 8]
	fmsub	d1, d4, d16, d1
	fmadd	d1, d3, d17, d1
	fadd	d1, d1, d2
	fmul	d1, d1, d0
	str	d1, [x3, x1]
.L5:
	add	x1, x0, 1
	sub	x16, x10, #1
	cmp	x1, x11
	csel	x1, x1, x11, ge
	cmp	x16, x12
	csel	x17, x16, x12, le
	cmp	x1, x17
	bge	.L12
	sub	x30, x17, x1
	sub	x0, x30, #1
	cmp	x0, 1
	bls	.L9
	add	x18, x4, x1, lsl 3
	lsl	x5, x1, 3
	sub	x8, x1, x2
	add	x7, x2, x1
	add	x9, x5, 8
	add	x8, x4, x8, lsl 3
	lsr	x6, x30, 1
	add	x7, x4, x7, lsl 3
	add	x9, x4, x9
	ldr	q4, [x18, -8]
	add	x5, x3, x5
	lsl	x6, x6, 4
	mov	x0, 0
	.p2align 5,,15
.L10:
	ldr	q2, [x8, x0]
	ldr	q5, [x18, x0]
	ldr	q3, [x9, x0]
	fadd	v2.2d, v2.2d, v4.2d
	ldr	q1, [x7, x0]
	mov	v4.16b, v3.16b
	fmls	v2.2d, v5.2d, v7.2d
	fadd	v3.2d, v3.2d, v2.2d
	fadd	v1.2d, v1.2d, v3.2d
	fmul	v1.2d, v1.2d, v6.2d
	str	q1, [x5, x0]
	add	x0, x0, 16
	cmp	x0, x6
	bne	.L10
	tbz	x30, 0, .L12
	and	x30, x30, -2
	add	x1, x1, x30
.L9:
	sub	x9, x17, #1
	add	x0, x1, 1
	add	x18, x4, x1, lsl 3
	cmp	x0, x9
	lsl	x7, x1, 3
	ccmp	x17, x1, 4, lt
	ble	.L20
	sub	x6, x1, x2
	ldr	q5, [x18, -8]
	add	x5, x2, x1
	lsl	x6, x6, 3
	lsl	x5, x5, 3
	ldr	q4, [x4, x7]
	add	x30, x7, 16
	add	x8, x1, 3
	add	x0, x1, 2
	ldr	q1, [x4, x6]
	ldr	q3, [x18, 8]
	ldr	q2, [x4, x5]
	fadd	v1.2d, v1.2d, v5.2d
	ldr	d5, [x4, x30]
	fmls	v1.2d, v4.2d, v7.2d
	fadd	v1.2d, v1.2d, v3.2d
	fadd	v1.2d, v2.2d, v1.2d
	fmul	v1.2d, v1.2d, v6.2d
	str	q1, [x3, x7]
	cmp	x9, x8
	bgt	.L34
.L14:
	lsl	x1, x0, 3
	sub	x7, x0, x2
	add	x6, x4, x1
	add	x5, x1, 8
	ldr	d1, [x4, x7, lsl 3]
	add	x7, x2, x0
	add	x0, x0, 1
	ldr	d4, [x6, -8]
	ldr	d2, [x4, x1]
	ldr	d3, [x4, x5]
	fadd	d1, d1, d4
	ldr	d4, [x4, x7, lsl 3]
	fmsub	d1, d2, d16, d1
	fadd	d1, d1, d3
	fadd	d1, d1, d4
	fmul	d1, d1, d0
	str	d1, [x3, x1]
	cmp	x17, x0
	ble	.L12
	sub	x1, x0, x2
	ldr	d5, [x6, 16]
	add	x0, x2, x0
	ldr	d1, [x4, x1, lsl 3]
	ldr	d4, [x4, x0, lsl 3]
	fadd	d1, d2, d1
	fmsub	d1, d3, d16, d1
	fadd	d1, d1, d5
	fadd	d1, d1, d4
	fmul	d1, d1, d0
	str	d1, [x3, x5]
.L12:
	cmp	x10, x12
	ccmp	x10, x11, 4, le
	bgt	.L35
.L8:
	mov	x0, x13
	add	x13, x13, x2
	cmp	x0, x14
	blt	.L15
	ldp	x29, x30, [sp], 16
	ret
	.p2align 2,,3
.L35:
	add	x1, x4, x16, lsl 3
	sub	x5, x16, x2
	lsl	x0, x16, 3
	add	x16, x16, x2
	ldr	d1, [x4, x5, lsl 3]
	ldr	d4, [x1, -8]
	ldr	d3, [x4, x0]
	ldr	d2, [x4, x16, lsl 3]
	fmadd	d1, d4, d17, d1
	fmsub	d1, d3, d16, d1
	fadd	d1, d1, d2
	fmul	d1, d1, d0
	str	d1, [x3, x0]
	b	.L8
.L20:
	mov	x0, x1
	b	.L14
.L2:
	cmp	x2, x1
	bgt	.L36
	mov	x0, x2
	mov	x15, x2
	mov	x13, 1
.L17:
	cmp	x5, x1
	csel	x14, x5, x1, le
	b	.L3
.L36:
	ret
.L30:
	ret
.L34:
	sub	x5, x0, x2
	add	x7, x7, 24
	lsl	x5, x5, 3
	add	x0, x2, x0
	ldr	d2, [x4, x7]
	lsl	x6, x0, 3
	add	x0, x1, 4
	ldr	q1, [x4, x5]
	ldr	q4, [x4, x7]
	ins	v5.d[1], v2.d[0]
	ldr	q2, [x4, x6]
	fadd	v1.2d, v1.2d, v3.2d
	fmls	v1.2d, v5.2d, v7.2d
	fadd	v1.2d, v1.2d, v4.2d
	fadd	v1.2d, v2.2d, v1.2d
	fmul	v1.2d, v1.2d, v6.2d
	str	q1, [x3, x30]
	b	.L14
.LFE1:
	.size	rhs_heat2d, .-rhs_heat2d
