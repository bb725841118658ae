package remote

import (
	"bytes"
	"encoding/xml"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// content is a file of 100,000 bytes.
var content = bytes.Repeat([]byte("0123456789"), 10_000)

// fetch copies a file of a TLS server and returns its content.
func fetch(t *testing.T, f *Fetcher, address string) (string, error) {
	t.Helper()
	f.Dir, f.Pause = t.TempDir(), time.Millisecond
	files, err := f.Fetch(t.Context(), address)
	if err != nil {
		return "", err
	}
	if len(files) != 1 {
		t.Fatalf("found %v, expected one file", files)
	}
	text, err := os.ReadFile(files[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), nil
}

// breaks answers with a part of the content and breaks the connection, `times` times.
func breaks(times int, tag string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		if times--; times < 0 {
			http.ServeContent(w, r, "a.csv", time.Time{}, bytes.NewReader(content))
			return
		}
		if from := r.Header.Get("Range"); from != "" && r.Header.Get("If-Range") != tag {
			http.Error(w, "no If-Range", http.StatusTeapot)
			return
		}
		http.ServeContent(&brokenWriter{w, 30_000}, r, "a.csv", time.Time{}, bytes.NewReader(content))
	}
}

// brokenWriter breaks the connection after some bytes.
type brokenWriter struct {
	http.ResponseWriter
	left int
}

// Write implements [http.ResponseWriter].
func (w *brokenWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		_, _ = w.ResponseWriter.Write(p[:w.left])
		w.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	w.left -= len(p)
	return w.ResponseWriter.Write(p)
}

func TestHTTPS(t *testing.T) {
	plain := httptest.NewServer(breaks(0, ""))
	defer plain.Close()
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string // part of the error; "" for the content
	}{
		{"whole", breaks(0, ""), ""},
		{"goes on three times", breaks(3, `"v1"`), ""},
		{"goes on by no version", breaks(1, ""), "failed after 30000 bytes: the connection broke, and the server does not say which version"},
		{"goes on by a weak version", breaks(1, `W/"v1"`), "does not say which version"},
		{"changed", func() http.HandlerFunc {
			n := 0
			return func(w http.ResponseWriter, r *http.Request) {
				n++
				breaks(2-n, `"v`+string(rune('0'+n))+`"`)(w, r)
			}
		}(), "the file has changed since"},
		{"busy, then fine", func() http.HandlerFunc {
			n := 0
			return func(w http.ResponseWriter, r *http.Request) {
				if n++; n < 3 {
					http.Error(w, "later", http.StatusServiceUnavailable)
					return
				}
				breaks(0, "")(w, r)
			}
		}(), ""},
		{"always busy", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "later", http.StatusServiceUnavailable) }, "the server answered 503 Service Unavailable"},
		{"missing", http.NotFound, "the server answered 404 Not Found"},
		{"redirect to http", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, plain.URL+"/a.csv", http.StatusFound)
		}, "the server redirects to http, which is not encrypted"},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/other.csv" {
				http.Redirect(w, r, "/other.csv", http.StatusFound)
				return
			}
			if r.Referer() != "" {
				http.Error(w, "it has the signature", http.StatusBadRequest)
				return
			}
			breaks(0, "")(w, r)
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewTLSServer(tt.handler)
			defer s.Close()
			got, err := fetch(t, &Fetcher{Client: s.Client()}, strings.Replace(s.URL, "://", "://user:hunter2@", 1)+"/a.csv?signature=hunter2")
			switch {
			case tt.want == "" && err == nil && got == string(content):
			case tt.want == "":
				t.Errorf("found %d bytes and %v, expected the file", len(got), err)
			case err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2"):
				t.Errorf("found %v, expected %s and no secret", err, tt.want)
			}
		})
	}
}

func TestBounds(t *testing.T) {
	s := httptest.NewTLSServer(breaks(0, ""))
	defer s.Close()
	if _, err := fetch(t, &Fetcher{Client: s.Client(), MaxBytes: 99_999}, s.URL+"/a.csv"); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("found %v, expected that the file is too large", err)
	}
	for address, want := range map[string]string{
		"http://example.com/a.csv":             "the scheme is http; write https://",
		"ftp://example.com/a.csv":              "the scheme is ftp",
		"https://user:hunter2@exa mple/a.csv":  "a source is no valid URL",
		"s3://bucket/a.csv?password=hunter2":   "the address of the storage contains a password",
		"https://user:hunter2@127.0.0.1:1/a.x": "copying https://127.0.0.1:1/a.x failed after 0 bytes",
	} {
		if _, err := fetch(t, &Fetcher{}, address); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: found %v, expected %s and no secret", address, err, want)
		}
	}
}

// storage answers the requests of S3's protocol that read a bucket of some objects.
func storage(objects map[string]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/bucket"), "/")
		if name != "" {
			http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(objects[name]))
			return
		}
		type entry struct {
			Key  string
			Size int
		}
		var list struct {
			XMLName  xml.Name `xml:"ListBucketResult"`
			Contents []entry
		}
		for _, key := range slices.Sorted(maps.Keys(objects)) {
			if q := r.URL.Query(); strings.HasPrefix(key, q.Get("prefix")) && key > q.Get("start-after") {
				list.Contents = append(list.Contents, entry{key, len(objects[key])})
			}
		}
		_ = xml.NewEncoder(w).Encode(list)
	}
}

// TestObjects reads objects with any names.
func TestObjects(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s := httptest.NewServer(storage(map[string]string{"2024/Ports June.csv": "a\n1\n", "2024/Ports July.csv": "a\n2\n", "2024/More/Ports X.csv": "a\n3\n", "2024/[1].csv": "a\n4\n", "2024/1.csv": "a\n5\n", "big": string(content)}))
	defer s.Close()
	for pattern, want := range map[string][]string{
		"2024/Ports%20*.csv": {"2024/Ports July.csv a\n2\n", "2024/Ports June.csv a\n1\n"},
		"2024/[1].csv":       {"2024/[1].csv a\n4\n"},
		"big":                {"big " + string(content)},
	} {
		f := &Fetcher{Dir: t.TempDir()}
		files, err := f.Fetch(t.Context(), "s3://bucket/"+pattern+"?endpoint="+url.QueryEscape(s.URL))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, file := range files {
			text, err := os.ReadFile(file.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimPrefix(file.Name, "s3://bucket/")+" "+string(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %.100q, expected %.100q", pattern, got, want)
		}
	}
	f := &Fetcher{Dir: t.TempDir()}
	if _, err := f.Fetch(t.Context(), "s3://bucket/none/*.csv?endpoint="+url.QueryEscape(s.URL)); err == nil || err.Error() != "no object fits s3://bucket/none/*.csv" {
		t.Errorf("found %v, expected that no object fits", err)
	}
}
