package server_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// codes maps a status to the code in the envelope; 412 has no code.
var codes = map[int]string{
	400: "bad_request", 401: "unauthorized", 403: "forbidden", 404: "not_found", 405: "method_not_allowed", 409: "conflict",
	413: "bad_request", 415: "bad_request", 429: "too_many_requests", 500: "internal", 503: "internal",
}

var (
	anID = regexp.MustCompile(`\b([0-9A-Z]{26}|[0-9a-z]{26})\b`)
	made = regexp.MustCompile(`\bmade-\d+\b`)
)

// envelopes collects the faults for the golden file.
type envelopes struct{ lines []string }

// check compares an answer with the expected status. If the expected status reports a fault, check
// also records the answer.
func (e *envelopes) check(t *testing.T, name, what string, a answer, want int) {
	t.Helper()
	if a.status != want {
		t.Errorf("%s, %s: %d %s, want %d", name, what, a.status, a.body, want)
		return
	}
	if want < 400 {
		return
	}
	code := ""
	if _, after, ok := strings.Cut(a.body, `"code":"`); ok {
		code, _, _ = strings.Cut(after, `"`)
	}
	if code != codes[want] {
		t.Errorf("%s, %s: code %q, want %q", name, what, code, codes[want])
	}
	if a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, %s: header %v", name, what, a.header)
	}
	for status, header := range map[int]string{401: "Www-Authenticate", 405: "Allow"} {
		if (a.header.Get(header) != "") != (want == status) {
			t.Errorf("%s, %s: header %s is %q", name, what, header, a.header.Get(header))
		}
	}
	e.lines = append(e.lines, fmt.Sprintf("%s\t%s\t%d\t%s", name, what, a.status, made.ReplaceAllString(anID.ReplaceAllString(a.body, "ID"), "made")))
}
