package studio

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// answer sends a request to the studio of a server that has a token issuer, and returns the
// response.
func answer(t *testing.T, method, path string, header http.Header) *http.Response {
	t.Helper()
	h, err := Handler(&Login{Issuer: "https://id.example.com/realms/staff", ClientID: "studio", Scopes: []string{"openid"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, path, nil)
	r.Header = header
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// TestHeaders checks the headers of every kind of answer.
func TestHeaders(t *testing.T) {
	want := map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' https://id.example.com; worker-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
		"X-Content-Type-Options":     "nosniff",
		"Referrer-Policy":            "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin",
	}
	for _, tt := range []struct {
		method, path string
		status       int
		media        string
	}{
		{"GET", "/studio", http.StatusPermanentRedirect, ""},
		{"GET", "/studio/", http.StatusOK, "text/html; charset=utf-8"},
		{"GET", "/studio/code/run/find_symbols", http.StatusOK, "text/html; charset=utf-8"},
		{"HEAD", "/studio/app.js", http.StatusOK, "text/javascript; charset=utf-8"},
		{"GET", "/studio/app.css", http.StatusOK, "text/css; charset=utf-8"},
		{"GET", "/studio/icon.svg", http.StatusOK, "image/svg+xml"},
		{"GET", "/studio/login.json", http.StatusOK, "application/json"},
		{"GET", "/studio/callback?code=1&state=2", http.StatusOK, "text/html; charset=utf-8"},
		{"POST", "/studio/", http.StatusMethodNotAllowed, ""},
	} {
		res := answer(t, tt.method, tt.path, http.Header{})
		if res.StatusCode != tt.status || tt.media != "" && res.Header.Get("Content-Type") != tt.media {
			t.Errorf("%s %s: status %d, media type %q", tt.method, tt.path, res.StatusCode, res.Header.Get("Content-Type"))
		}
		for name, value := range want {
			if got := res.Header.Get(name); got != value {
				t.Errorf("%s %s: %s is %q, want %q", tt.method, tt.path, name, got, value)
			}
		}
	}
	if got := contentPolicy(nil); !strings.Contains(got, "connect-src 'self';") {
		t.Errorf("without an issuer the policy is %q", got)
	}
}

// TestLogin checks what the pages learn about the issuer of the server. Without a client at the issuer,
// they learn nothing.
func TestLogin(t *testing.T) {
	for _, tt := range []struct {
		login *Login
		dev   bool
		want  string
	}{
		{nil, false, `{"oidc":null}`},
		{nil, true, `{"oidc":null,"dev":true}`},
		{&Login{Issuer: "https://id.example.com", ClientID: "studio", Scopes: []string{"openid", "graph"}}, false,
			`{"oidc":{"issuer":"https://id.example.com","client_id":"studio","scopes":["openid","graph"]}}`},
	} {
		h, err := Handler(tt.login, tt.dev)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/studio/login.json", nil))
		if got := w.Body.String(); got != tt.want {
			t.Errorf("login.json is %s, want %s", got, tt.want)
		}
	}
}

// TestCompressed checks that a client gets the same file with and without compression. A client
// that already has the file must get no content.
func TestCompressed(t *testing.T) {
	plain := answer(t, "GET", "/studio/app.js", http.Header{})
	zipped := answer(t, "GET", "/studio/app.js", http.Header{"Accept-Encoding": {"gzip, br"}})
	z, err := gzip.NewReader(zipped.Body)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := io.ReadAll(plain.Body)
	b, errB := io.ReadAll(z)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("the two forms differ: %v, %v", errA, errB)
	}
	for _, res := range []*http.Response{plain, zipped} {
		again := answer(t, "GET", "/studio/app.js", http.Header{"Accept-Encoding": {res.Header.Get("Content-Encoding")}, "If-None-Match": {res.Header.Get("ETag")}})
		if again.StatusCode != http.StatusNotModified {
			t.Errorf("with the tag %s the status is %d", res.Header.Get("ETag"), again.StatusCode)
		}
	}
}

// firstPage is the maximum number of compressed bytes that a browser may have to fetch for the
// first page.
const firstPage = 100_000

// TestFirstPage checks the total size of the files to which the index refers. Each of these files
// must exist.
func TestFirstPage(t *testing.T) {
	res := answer(t, "GET", "/studio/", http.Header{})
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	total, tag := 0, res.Header.Get("ETag")
	for _, ref := range append(regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(string(text), -1), []string{"", "/studio/"}) {
		res := answer(t, "GET", ref[1], http.Header{"Accept-Encoding": {"gzip"}})
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		total += len(b)
		if ref[1] != "/studio/" && strings.HasPrefix(res.Header.Get("ETag"), strings.TrimSuffix(tag, `"`)) {
			t.Errorf("the index refers to %s, which does not exist", ref[1])
		}
	}
	t.Logf("the first page has %d bytes", total)
	if total > firstPage {
		t.Errorf("the first page has %d compressed bytes, want at most %d", total, firstPage)
	}
}

// TestGrammar checks that the bundle of the editor has the grammar of the language, with the names of all functions.
func TestGrammar(t *testing.T) {
	const path = "../../cmd/gq/editors/vscode/syntaxes/gq.tmLanguage.json"
	grammar, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := os.ReadFile("dist/editor.js")
	if err != nil {
		t.Fatal(err)
	}
	rules := regexp.MustCompile(`"match": ("\(\?<!(?:[^"\\]|\\.)*")`).FindAllSubmatch(grammar, -1)
	if len(rules) < 3 {
		t.Fatalf("%s has %d lists of words, which is too few to compare anything", path, len(rules))
	}
	for _, r := range rules {
		if !bytes.Contains(bundle, r[1]) {
			t.Errorf("dist/editor.js lacks a rule of the grammar; run make studio to bundle %s again: %s", path, r[1])
		}
	}
}
