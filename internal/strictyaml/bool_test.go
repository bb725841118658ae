package strictyaml

import (
	"strings"
	"testing"
)

func TestBool(t *testing.T) {
	tests := []struct {
		src, fault string
		v, ok      bool
	}{
		{"flag: true\n", "", true, true},
		{"flag: false\n", "", false, true},
		{"other: 1\n", "", false, false},
		{"flag: yes\n", "flag is a string, expected true or false", false, false},
		{"flag: \"true\"\n", "flag is a string, expected true or false", false, false},
		{"flag: 1\n", "expected true or false", false, false},
		{"flag:\n", "expected true or false", false, false},
	}
	for _, tt := range tests {
		r := Read("f.yaml", []byte(tt.src))
		f, _ := r.Root().Fields("the file", "flag", "other")
		v, ok := f["flag"].Bool("flag")
		if v != tt.v || ok != tt.ok {
			t.Errorf("%q: found %v, %v", tt.src, v, ok)
		}
		switch faults := r.Faults(); {
		case tt.fault == "" && len(faults) > 0:
			t.Errorf("%q: found %v", tt.src, faults)
		case tt.fault != "" && (len(faults) != 1 || !strings.Contains(faults[0].Message, tt.fault)):
			t.Errorf("%q: found %v, expected %q", tt.src, faults, tt.fault)
		}
	}
}
