package address

import (
	"errors"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

func TestCheck(t *testing.T) {
	for text, want := range map[string]string{
		"s3://bucket/prefix?region=eu-central-1":         "",
		"s3://bucket?colour=red":                         `unknown parameter "colour"`,
		"postgres://user@host/db?schema=graphs":          "",
		"postgres:///db?host=/run/postgresql":            "",
		"postgres:///db":                                 "names no host",
		"postgres://user:s3cret@host/db":                 "contains a password",
		"postgres://user@host/db?password=s3cret":        "contains a password",
		"postgres://user@host/db?SSLPassword=s3cret&a=b": "contains a password",
		"postgres://user@host/db?a=b;password=s3cret":    "is malformed",
		"file:///srv/graphs":                             "",
		"file://srv/graphs":                              "three slashes",
		"file:///srv/graphs?x=1":                         "three slashes",
		"ftp://host/folder":                              `scheme "ftp", which is not supported`,
		"s3://%zz":                                       "is not a URL",
	} {
		err := Check(text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%s: the error repeats the password: %v", text, err)
		}
		if got := Redacted(text); strings.Contains(got, "s3cret") {
			t.Errorf("%s without passwords is %s", text, got)
		} else if want == "" && got != text {
			t.Errorf("%s without passwords is %s, although it has none", text, got)
		}
	}
}

// TestFolder stores an object in the folder of a URL, reads it over another connection, and probes
// the folder.
func TestFolder(t *testing.T) {
	at := "file://" + t.TempDir() + "/graphs"
	one, done, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	two, done, err := Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	if err := object.Establish(t.Context(), one, "a", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if got, err := two.Read(t.Context(), "a", 0, object.Whole); err != nil || string(got) != "x" {
		t.Errorf("read %q, %v", got, err)
	}
	if err := object.Establish(t.Context(), two, "a", []byte("x")); err != nil {
		t.Errorf("the same object again: %v", err)
	}
	if err := object.Establish(t.Context(), two, "a", []byte("y")); !errors.Is(err, object.ErrExists) {
		t.Errorf("another object under the name: %v", err)
	}
	if err := Probe(t.Context(), at); err != nil {
		t.Error(err)
	}
	if left, err := object.ListAll(t.Context(), one, ""); err != nil || len(left) != 1 {
		t.Errorf("after the probe the folder has %v, %v", left, err)
	}
}
