#include "textflag.h"

// func dot8AVX2(x, y *int8, dim int, ahead *int8) int32
TEXT ·dot8AVX2(SB), NOSPLIT, $0-36
	MOVQ  x+0(FP), SI
	MOVQ  y+8(FP), DX
	MOVQ  dim+16(FP), CX
	MOVQ  ahead+24(FP), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	SHRQ  $5, CX

components:
	PREFETCHT0   (BX)
	VPMOVSXBW    (SI), Y2
	VPMOVSXBW    16(SI), Y3
	VPMOVSXBW    (DX), Y4
	VPMOVSXBW    16(DX), Y5
	VPMADDWD     Y4, Y2, Y2
	VPMADDWD     Y5, Y3, Y3
	VPADDD       Y2, Y0, Y0
	VPADDD       Y3, Y1, Y1
	ADDQ         $32, SI
	ADDQ         $32, DX
	ADDQ         $32, BX
	DECQ         CX
	JNZ          components
	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, ret+32(FP)
	VZEROUPPER
	RET

// func dot16AVX2(x *int8, y *int16, dim int, ahead *int8) int32
TEXT ·dot16AVX2(SB), NOSPLIT, $0-36
	MOVQ  x+0(FP), SI
	MOVQ  y+8(FP), DX
	MOVQ  dim+16(FP), CX
	MOVQ  ahead+24(FP), BX
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	SHRQ  $5, CX

components:
	PREFETCHT0   (BX)
	VPMOVSXBW    (SI), Y2
	VPMOVSXBW    16(SI), Y3
	VPMADDWD     (DX), Y2, Y2
	VPMADDWD     32(DX), Y3, Y3
	VPADDD       Y2, Y0, Y0
	VPADDD       Y3, Y1, Y1
	ADDQ         $32, SI
	ADDQ         $64, DX
	ADDQ         $32, BX
	DECQ         CX
	JNZ          components
	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDD       X1, X0, X0
	VPSHUFD      $0xB1, X0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, AX
	MOVL         AX, ret+32(FP)
	VZEROUPPER
	RET
