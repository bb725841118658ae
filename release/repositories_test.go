package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRepositories writes repositories for apt and dnf with a key, and lets both programs install from them over HTTP. Both check the
// signature, and refuse an index that was changed after it.
func TestRepositories(t *testing.T) {
	for _, program := range []string{"dpkg-scanpackages", "createrepo_c", "gpg", "apt-get", "dnf"} {
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skip("it needs root and " + program)
		}
	}
	work := t.TempDir()
	t.Setenv("GNUPGHOME", filepath.Join(work, "gpg"))
	if err := os.Mkdir(filepath.Join(work, "gpg"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(want string, args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		if (err == nil) != (want == "") || !strings.Contains(string(out), want) {
			t.Fatalf("%q: %v, want %q\n%s", args, err, want, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("gpgconf", "--kill", "gpg-agent").Run() })
	run("", "gpg", "--batch", "--passphrase", "", "--quick-generate-key", "test@example.com", "rsa2048", "sign", "never")
	site := filepath.Join(work, "site")
	run("", "./repositories.sh", dist, site, "test@example.com")
	srv := httptest.NewServer(http.FileServer(http.Dir(site)))
	defer srv.Close()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	installed := func(root string) {
		t.Helper()
		if out, err := exec.Command(filepath.Join(root, "usr/bin/omnigraph"), "--version").Output(); err != nil || !strings.Contains(string(out), testVersion) {
			t.Errorf("the installed program prints %q, %v", out, err)
		}
	}

	root := filepath.Join(work, "debian")
	write("debian/var/lib/dpkg/status", "")
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "etc", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	list := write("omnigraph.list", "deb [signed-by="+site+"/omnigraph.asc] "+srv.URL+"/apt ./\n")
	apt := func(want string, args ...string) {
		t.Helper()
		run(want, append([]string{"apt-get", "-o", "Dir::State=" + root + "/var/lib/apt", "-o", "Dir::State::status=" + root + "/var/lib/dpkg/status",
			"-o", "Dir::Cache=" + root + "/var/cache/apt", "-o", "Dir::Etc::sourcelist=" + list, "-o", "Dir::Etc::sourceparts=-", "-o", "APT::Sandbox::User=root",
			"-o", "DPkg::Options::=--root=" + root, "-o", "DPkg::Options::=--force-script-chrootless"}, args...)...)
	}
	apt("", "update")
	apt("", "install", "--yes", "--no-install-recommends", project)
	installed(root)
	release, err := os.ReadFile(filepath.Join(site, "apt/InRelease"))
	if err != nil {
		t.Fatal(err)
	}
	write("site/apt/InRelease", strings.Replace(string(release), "Label: Omnigraph", "Label: Another", 1))
	apt("", "clean")
	apt("BADSIG", "update", "-o", "APT::Update::Error-Mode=any")

	root = filepath.Join(work, "fedora")
	conf := write("dnf/omnigraph.repo", "[omnigraph]\nname=Omnigraph\nbaseurl="+srv.URL+"/yum\nrepo_gpgcheck=1\ngpgcheck=0\ngpgkey=file://"+site+"/omnigraph.asc\n")
	dnf := func(want string, args ...string) {
		t.Helper()
		run(want, append([]string{"dnf", "--assumeyes", "--quiet", "--installroot=" + root, "--releasever=42", "--setopt=reposdir=" + filepath.Dir(conf), "--setopt=cachedir=" + work + "/cache",
			"--setopt=install_weak_deps=False", "--setopt=tsflags=noscripts"}, args...)...)
	}
	dnf("", "install", project)
	installed(root)
	write("site/yum/repodata/repomd.xml", "<repomd xmlns=\"http://linux.duke.edu/metadata/repo\"></repomd>")
	dnf("GPG signature verification", "--refresh", "--setopt=skip_if_unavailable=0", "makecache")
}
