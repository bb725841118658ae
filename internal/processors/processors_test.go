package processors

import (
	"runtime"
	"testing"
)

func TestSpare(t *testing.T) {
	t.Setenv("GOMAXPROCS", "")
	slots, n := runtime.GOMAXPROCS(0), Count()
	remove := Spare()
	if got := runtime.GOMAXPROCS(0); got != slots+spareSlots || Count() != n {
		t.Errorf("with the spare slots there are %d slots and %d processors, expected %d and %d", got, Count(), slots+spareSlots, n)
	}
	if remove(); Count() != n {
		t.Errorf("without them there are %d processors, expected %d", Count(), n)
	}
}

func TestSpareOfVariable(t *testing.T) {
	t.Setenv("GOMAXPROCS", "2")
	slots := runtime.GOMAXPROCS(0)
	defer Spare()()
	if got := runtime.GOMAXPROCS(0); got != slots {
		t.Errorf("there are %d slots, expected %d as before", got, slots)
	}
}
