package main

import (
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	for _, tt := range []struct{ after, want string }{
		{"2026-11-22T09:44:00Z", "2028-02-29T12:00:00Z"},
		{"2028-02-29T11:59:59Z", "2028-02-29T12:00:00Z"},
		{"2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"},
		{"2028-03-01T01:00:00+14:00", "2028-02-29T12:00:00Z"},
		{"2096-03-01T00:00:00Z", "2104-02-29T12:00:00Z"}, // 2100 is not a leap year
	} {
		after, err := time.Parse(time.RFC3339, tt.after)
		if err != nil {
			t.Fatal(err)
		}
		if got := next(after).Format(time.RFC3339); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.after, got, tt.want)
		}
	}
}
