#include "textflag.h"

// func between32AVX2(found *uint64, x *int32, words int, lo, width uint32)
TEXT ·between32AVX2(SB), NOSPLIT, $0-32
	MOVQ         found+0(FP), DI
	MOVQ         x+8(FP), SI
	MOVQ         words+16(FP), CX
	MOVL         lo+24(FP), AX
	MOVL         width+28(FP), BX
	VMOVD        AX, X0
	VMOVD        BX, X1
	VPBROADCASTD X0, Y0
	VPBROADCASTD X1, Y1
	SHLQ         $3, CX

// Eight values make a byte: x-lo ≤ width exactly if the lesser of both is x-lo.
eight:
	VMOVDQU   (SI), Y2
	VPSUBD    Y0, Y2, Y2
	VPMINUD   Y1, Y2, Y3
	VPCMPEQD  Y2, Y3, Y3
	VMOVMSKPS Y3, AX
	MOVB      AX, (DI)
	ADDQ      $32, SI
	INCQ      DI
	DECQ      CX
	JNZ       eight
	VZEROUPPER
	RET
