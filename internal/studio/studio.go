// Package studio serves the studio: web pages for people who look at graphs. The pages are static
// files. Their script calls the public routes of the server with the token of the user. The sources
// are in src; `make studio` builds dist from them.
package studio

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
)

//go:embed dist
var dist embed.FS

// Path is the path of the studio. All its pages are below it.
const Path = "/studio/"

// file is a file of the studio in the forms in which the server sends it.
type file struct {
	plain, zipped []byte // the bytes of the file, and the same bytes compressed with gzip
	media         string // its media type
	tag           string // its entity tag
}

// handler serves the files of the studio.
type handler struct {
	files  map[string]*file // by name
	policy string           // the Content-Security-Policy
}

// index is the file that the server sends for every page. The script in it finds out from the URL
// which page to show.
const index = "index.html"

// loginFile is the file that tells the pages at which issuer users log in, and whether gq dev started the server.
const loginFile = "login.json"

// FaultsPath is the path at which a server that gq dev started sends the faults of the last save. Unlike the other paths below
// [Path] it needs authentication, and [Handler] does not serve it.
const FaultsPath = Path + "faults.json"

// Login is the public client of the studio at an OpenID Connect issuer. Users of the studio log in there.
type Login struct {
	Issuer   string   `json:"issuer"`    // the URL of the issuer
	ClientID string   `json:"client_id"` // identifies the studio at the issuer
	Scopes   []string `json:"scopes"`    // the scopes that the studio asks for
}

// Handler returns the handler of all paths below [Path]. It needs no authentication, because the
// files are the same for everyone and contain no data of any graph. If `login` is nil, users can only
// paste tokens. If `dev` is true, the pages ask for [FaultsPath] every second.
func Handler(login *Login, dev bool) (http.Handler, error) {
	h := &handler{files: map[string]*file{}, policy: contentPolicy(login)}
	public, err := json.Marshal(struct {
		OIDC *Login `json:"oidc"`
		Dev  bool   `json:"dev,omitempty"`
	}{login, dev})
	if err != nil {
		return nil, err
	}
	if h.files[loginFile], err = newFile(loginFile, public); err != nil {
		return nil, err
	}
	entries, err := dist.ReadDir("dist")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		b, err := dist.ReadFile(path.Join("dist", e.Name()))
		if err != nil {
			return nil, err
		}
		if h.files[e.Name()], err = newFile(e.Name(), b); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// newFile compresses a file and computes its tag.
func newFile(name string, b []byte) (*file, error) {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(b); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	return &file{plain: b, zipped: zipped.Bytes(), media: mime.TypeByExtension(path.Ext(name)), tag: hex.EncodeToString(sum[:16])}, nil
}

// contentPolicy returns the Content-Security-Policy of all files. It allows scripts, styles and
// connections only of the server itself, and also connections to the issuer at which users log in.
func contentPolicy(login *Login) string {
	connect := "'self'"
	if login != nil {
		if u, err := url.Parse(login.Issuer); err == nil && u.Host != "" {
			connect += " " + u.Scheme + "://" + u.Host
		}
	}
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src " + connect, "worker-src 'self'",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
	}, "; ")
}

// ServeHTTP sends the file at the path of the request. If there is no such file, it sends the index,
// which shows the page of that path.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", h.policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "found "+r.Method+", expected GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	name, below := strings.CutPrefix(r.URL.Path, Path)
	if !below {
		http.Redirect(w, r, Path, http.StatusPermanentRedirect)
		return
	}
	f := h.files[name]
	if f == nil {
		f = h.files[index]
	}
	f.serve(w, r)
}

// serve sends the file, compressed if the client accepts that. If the client already has the file,
// the status is 304.
func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	// The browser must ask each time whether a file has changed, because a new version of the
	// server has new files.
	head.Set("Cache-Control", "no-cache")
	head.Set("Vary", "Accept-Encoding")
	tag, body := `"`+f.tag+`"`, f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		tag, body = `"`+f.tag+`-gzip"`, f.zipped
		head.Set("Content-Encoding", "gzip")
	}
	head.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		head.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	head.Set("Content-Type", f.media)
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // an error means that the client has gone away
	}
}
