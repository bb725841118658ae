package model

import "testing"

func TestECMASafe(t *testing.T) {
	tests := []struct {
		re   string
		safe bool
	}{
		{`^[a-z]+$`, true},
		{`^[^@,]+@[^@,]+\.[a-z]{2,3}$`, true},
		{`^\d{4}(?:-\d{2}){2}$`, true},
		{`[a\-z]`, true},
		{`[\w\-.]`, true},
		{`[\w.]`, true},
		{`[\w-.]`, false}, // the u flag rejects a range that ends with a class
		{`[+-\d]`, false},
		{`\w-\d`, true},
		{`^$`, true},
		{`a{2}b{3,}`, true},
		{`(?i)abc`, false},
		{`(?P<n>a)`, false},
		{`\pL`, false},
		{`\Aa\z`, false},
		{`\s`, false}, // ECMA-262 matches other characters than RE2
		{`a\-b`, false},
		{`[[:alpha:]]`, false},
		{`[]a]`, false},
		{`[^]a]`, false},
		{`^*a`, false}, // ECMA-262 does not allow an assertion to be repeated
		{`a\b+`, false},
		{`\B{2}`, false},
		{`a$?`, false},
		{`[$]+[a^]*\bx`, true},
		{`a{`, false},
		{`a{,3}`, false},
		{`a}`, false},
		{`a]`, false},
		{`é`, false},
		{`\`, false},
		{`[a`, false},
		{`\Q.\E`, false},
	}
	for _, tt := range tests {
		if got := ecmaSafe(tt.re); got != tt.safe {
			t.Errorf("ecmaSafe(%q) = %v, expected %v", tt.re, got, tt.safe)
		}
	}
}
