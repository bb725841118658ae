package client

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2028, time.February, 29, 23, 59, 30, 0, time.FixedZone("", -12600))
	for _, tt := range []struct {
		header string
		want   time.Duration
		ok     bool
	}{
		{"0", 0, true}, {"3", 3 * time.Second, true}, {"-1", 0, false}, {"soon", 0, false}, {"", 0, false},
		{"Wed, 01 Mar 2028 03:30:00 GMT", 30 * time.Second, true}, // the next day in now's zone
		{"Tue, 29 Feb 2028 23:59:30 GMT", 0, true},                // in the past
		{"2028-03-01T03:30:00Z", 0, false},
	} {
		h := http.Header{}
		if tt.header != "" {
			h.Set("Retry-After", tt.header)
		}
		switch got := retryAfter(h, now); {
		case (got != nil) != tt.ok:
			t.Errorf("%q: read is %t, want %t", tt.header, got != nil, tt.ok)
		case got != nil && *got != tt.want:
			t.Errorf("%q: %v, want %v", tt.header, *got, tt.want)
		}
	}
}
