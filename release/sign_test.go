package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/signature"
)

const (
	testBuilder = "https://example.com/builder"
	testCommit  = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567" // the provenance takes whole ids only
)

// newKey writes a new private key and its public key, and returns the paths and the public key.
func newKey(t *testing.T) (private, public string, key crypto.PublicKey) {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	open, err := x509.MarshalPKIXPublicKey(pair.Public())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	private, public = filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub")
	for name, block := range map[string]*pem.Block{private: {Type: "PRIVATE KEY", Bytes: secret}, public: {Type: "PUBLIC KEY", Bytes: open}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return private, public, pair.Public()
}

// linkedDist returns a folder with links to the artifacts, to which a test can add files.
func linkedDist(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(dist, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// signed signs the artifacts in dir by the built command.
func signed(t *testing.T, dir, key string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), command, "sign", "-version", testVersion, "-commit", testCommit, "-dist", dir, "-builder", testBuilder, "-key", key).CombinedOutput()
	return string(out), err
}

// verified verifies a bundle in dir with a key for the content of an artifact.
func verified(t *testing.T, dir, name, artifact string, key crypto.PublicKey) (*verify.VerificationResult, error) {
	t.Helper()
	b, err := bundle.LoadJSONFromPath(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	v, err := signature.LoadVerifier(key, crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	trusted := root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) {
		return root.NewExpiringKey(v, time.Time{}, time.Time{}), nil
	})
	verifier, err := verify.NewVerifier(trusted, verify.WithNoObserverTimestamps())
	if err != nil {
		t.Fatal(err)
	}
	return verifier.Verify(b, verify.NewPolicy(verify.WithArtifact(strings.NewReader(artifact)), verify.WithKey()))
}

// TestSignatures signs the release with a new key. The library of sigstore verifies the sums and each artifact, and refuses
// another key, other sums and an artifact that is not in the provenance.
func TestSignatures(t *testing.T) {
	dir := linkedDist(t)
	private, _, key := newKey(t)
	_, _, other := newKey(t)
	if out, err := signed(t, dir, private); err != nil {
		t.Fatalf("release sign: %v\n%s", err, out)
	}
	sums := string(read(t, "checksums.txt"))
	archive := string(read(t, stem()+".tar.gz"))
	for _, c := range []struct {
		name, bundle, artifact string
		key                    crypto.PublicKey
		ok                     bool
	}{
		{"the sums", signatureFile, sums, key, true},
		{"other sums", signatureFile, sums + "\n", key, false},
		{"the sums by another key", signatureFile, sums, other, false},
		{"an archive", provenanceFile, archive, key, true},
		{"a changed archive", provenanceFile, archive + "\x00", key, false},
		{"an archive by another key", provenanceFile, archive, other, false},
	} {
		if _, err := verified(t, dir, c.bundle, c.artifact, c.key); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}

	result, err := verified(t, dir, provenanceFile, archive, key)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Statement.Subject); n != strings.Count(sums, "\n") || result.Statement.PredicateType != predicateType {
		t.Errorf("the provenance has the type %s and %d subjects; there are %d sums", result.Statement.PredicateType, n, strings.Count(sums, "\n"))
	}
	text, err := result.Statement.Predicate.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		BuildDefinition struct {
			ExternalParameters   map[string]string
			ResolvedDependencies []struct {
				URI    string
				Digest map[string]string
			}
		}
		RunDetails struct{ Builder struct{ ID string } }
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	sources := p.BuildDefinition.ResolvedDependencies
	if p.RunDetails.Builder.ID != testBuilder || p.BuildDefinition.ExternalParameters["version"] != testVersion ||
		len(sources) != 1 || sources[0].Digest["gitCommit"] != testCommit {
		t.Errorf("the provenance is %s", text)
	}
}

// TestCosign lets the program cosign verify what TestSignatures signs. OMNIGRAPH_TEST_COSIGN names the program.
func TestCosign(t *testing.T) {
	cosign := os.Getenv("OMNIGRAPH_TEST_COSIGN")
	if cosign == "" {
		t.Skip("OMNIGRAPH_TEST_COSIGN does not name cosign; make test-signatures builds it")
	}
	dir := linkedDist(t)
	private, public, _ := newKey(t)
	_, other, _ := newKey(t)
	if out, err := signed(t, dir, private); err != nil {
		t.Fatalf("release sign: %v\n%s", err, out)
	}
	changed := filepath.Join(t.TempDir(), "changed")
	if err := os.WriteFile(changed, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(dir, name) }
	blob, attested := []string{"verify-blob", "--bundle", path(signatureFile)}, []string{"verify-blob-attestation", "--type", predicateType, "--bundle", path(provenanceFile)}
	for _, c := range []struct {
		name      string
		command   []string
		key, file string
		ok        bool
	}{
		{"the sums", blob, public, path("checksums.txt"), true},
		{"other sums", blob, public, changed, false},
		{"the sums by another key", blob, other, path("checksums.txt"), false},
		{"an archive", attested, public, path(stem() + ".tar.gz"), true},
		{"a package", attested, public, path(stem() + ".deb"), true},
		{"a changed archive", attested, public, changed, false},
		{"an archive by another key", attested, other, path(stem() + ".tar.gz"), false},
	} {
		cmd := exec.CommandContext(t.Context(), cosign, append(c.command, "--key", c.key, "--insecure-ignore-tlog", c.file)...)
		cmd.Env = append(os.Environ(), "HTTPS_PROXY=http://127.0.0.1:1", "HTTP_PROXY=http://127.0.0.1:1") // it needs no network
		if out, err := cmd.CombinedOutput(); (err == nil) != c.ok {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}

// TestSignRefuses gives the command artifacts and keys that it must not sign, or sign with.
func TestSignRefuses(t *testing.T) {
	private, public, _ := newKey(t)
	folder := func(sums string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{"checksums.txt": sums, "a.tar.gz": "a"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	const sum = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
	right := folder(sum + "  a.tar.gz\n")
	for _, c := range []struct{ name, dir, key, want string }{
		{"another sum", folder(strings.Repeat("0", 64) + "  a.tar.gz\n"), private, "a.tar.gz does not have the sum in checksums.txt"},
		{"a missing artifact", folder(sum + "  b.tar.gz\n"), private, "b.tar.gz"},
		{"a path", folder(sum + "  ../a.tar.gz\n"), private, `has the line "` + sum},
		{"a public key", right, public, "key.pub"},
		{"no PEM", right, filepath.Join(right, "a.tar.gz"), "is not PEM"},
		{"no key and no workflow", right, "", "elsewhere give -key"},
	} {
		t.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", "")
		if out, err := signed(t, c.dir, c.key); err == nil || !strings.Contains(out, c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.name, err, c.want, out)
		}
	}
	if out, err := signed(t, right, private); err != nil {
		t.Errorf("right sums: %v\n%s", err, out)
	}
}

// TestWorkflowToken asks a server that answers as GitHub does for the token of a workflow.
func TestWorkflowToken(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer asks" || r.URL.Query().Get("audience") != "sigstore" || r.URL.Query().Get("api-version") != "2.0" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = w.Write([]byte(`{"count":1,"value":"token"}`))
	}))
	defer srv.Close()
	t.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", srv.URL+"/?api-version=2.0")
	t.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "asks")
	if token, err := workflowToken(t.Context()); err != nil || token != "token" {
		t.Errorf("the token is %q, %v", token, err)
	}
	t.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "another")
	if token, err := workflowToken(t.Context()); err == nil {
		t.Errorf("a refused request gives the token %q", token)
	}
}
