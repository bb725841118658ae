package artifact

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// at is the time of all files in these tests. Its zone must not appear in an archive.
var at = time.Date(2026, 11, 23, 10, 0, 0, 0, time.FixedZone("UTC+14", 14*3600))

var sample = []File{
	{Name: "bin/program", Mode: 0o755, Data: []byte("program")},
	{Name: "data", Mode: fs.ModeDir | 0o700, Owner: ServerUser},
	{Name: "read.me", Mode: 0o644, Data: []byte("text")},
}

// TestArchives writes the sample as an archive of each format and reads it back.
func TestArchives(t *testing.T) {
	read := map[string]func(t *testing.T, b []byte) map[string]string{
		"tar": func(t *testing.T, b []byte) map[string]string {
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			for a := tar.NewReader(z); ; {
				h, err := a.Next()
				if err == io.EOF {
					return found
				}
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(a)
				if err != nil || !h.ModTime.Equal(at) || h.Uname != "" {
					t.Errorf("%s: %v, time %v, user %q", h.Name, err, h.ModTime, h.Uname)
				}
				if owner := map[bool]int{true: ServerUser}[h.Name == "data/"]; h.Uid != owner || h.Gid != owner {
					t.Errorf("%s belongs to %d:%d", h.Name, h.Uid, h.Gid)
				}
				found[h.Name] = h.FileInfo().Mode().String() + " " + string(text)
			}
		},
		"zip": func(t *testing.T, b []byte) map[string]string {
			z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]string{}
			for _, f := range z.File {
				r, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(r)
				if err != nil || !f.Modified.Equal(at) {
					t.Errorf("%s: %v, time %v", f.Name, err, f.Modified)
				}
				found[f.Name] = f.Mode().String() + " " + string(text)
			}
			return found
		},
	}
	want := map[string]string{"bin/program": "-rwxr-xr-x program", "data/": "drwx------ ", "read.me": "-rw-r--r-- text"}
	for name, write := range map[string]func(io.Writer, []File, time.Time) error{"tar": WriteTarGz, "zip": WriteZip} {
		var first, second bytes.Buffer
		if err := write(&first, sample, at); err != nil {
			t.Fatal(err)
		}
		if err := write(&second, sample, at.UTC()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("the bytes of a %s depend on the time zone", name)
		}
		if found := read[name](t, first.Bytes()); !maps.Equal(found, want) {
			t.Errorf("the %s has %q, want %q", name, found, want)
		}
	}
}

// TestImage checks that all blobs of an image layout have the digest that their name says, and that
// the top of the layout leads to the layer of each platform.
func TestImage(t *testing.T) {
	im := ServerImage("brain:1.2.3", "/app/data", map[string]string{"label": "value"})
	for _, p := range []Platform{{"linux", "amd64"}, {"linux", "arm64"}} {
		if err := im.Add(p, ServerFiles(sample[:1], sample[2:], "/app/data", []byte("certificates of "+p.Arch)), at); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := im.Write(&out, at); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for a := tar.NewReader(&out); ; {
		h, err := a.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(a); err != nil {
			t.Fatal(err)
		}
		if sum, ok := strings.CutPrefix(h.Name, "blobs/sha256/"); ok && sum != "" && sum != Sum(files[h.Name]) {
			t.Errorf("the content of %s has the sum %s", h.Name, Sum(files[h.Name]))
		}
	}
	decode := func(name string, to any) {
		t.Helper()
		if err := json.Unmarshal(files[name], to); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	blob := func(d ociDescriptor) string {
		name := "blobs/" + strings.Replace(d.Digest, ":", "/", 1)
		if len(files[name]) != d.Size {
			t.Errorf("%s has %d bytes, its descriptor says %d", name, len(files[name]), d.Size)
		}
		return name
	}
	var top, index ociIndex
	decode("index.json", &top)
	decode(blob(top.Manifests[0]), &index)
	if len(index.Manifests) != 2 {
		t.Fatalf("the index has %d images", len(index.Manifests))
	}
	for _, d := range index.Manifests {
		var manifest ociManifest
		decode(blob(d), &manifest)
		var config ociConfig
		decode(blob(manifest.Config), &config)
		if config.Architecture != d.Platform.Architecture || config.Config.User != "65532:65532" || config.Config.Labels["label"] != "value" {
			t.Errorf("the configuration for %+v is %+v", d.Platform, config)
		}
		z, err := gzip.NewReader(bytes.NewReader(files[blob(manifest.Layers[0])]))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil || digest(plain) != config.RootFS.DiffIDs[0] {
			t.Errorf("the layer has the digest %s, the configuration says %v, %v", digest(plain), config.RootFS.DiffIDs, err)
		}
		var names []string
		for a := tar.NewReader(bytes.NewReader(plain)); ; {
			h, err := a.Next()
			if err != nil {
				break
			}
			names = append(names, h.Name)
		}
		want := []string{
			"app/", "app/data/", "app/read.me", "etc/", "etc/ssl/", "etc/ssl/certs/", "etc/ssl/certs/ca-certificates.crt",
			"usr/", "usr/local/", "usr/local/bin/", "usr/local/bin/bin/", "usr/local/bin/bin/program",
		}
		if !slices.Equal(names, want) {
			t.Errorf("the layer has %q, want %q", names, want)
		}
	}
}

func TestReadFiles(t *testing.T) {
	fsys := fstest.MapFS{"a/b.gq": {Data: []byte("b"), Mode: 0o600}, "a/c.gq": {}, "cluster.yaml": {}, "other": {}}
	files, err := ReadFiles(fsys, "cluster.yaml", "a", "a/b.gq")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if f.Mode != 0o644 {
			t.Errorf("%s has mode %v", f.Name, f.Mode)
		}
	}
	if want := []string{"a/b.gq", "a/c.gq", "cluster.yaml"}; !slices.Equal(names, want) {
		t.Errorf("the files are %q, want %q", names, want)
	}
	if _, err := ReadFiles(fsys, "absent"); err == nil {
		t.Error("a file that does not exist is no error")
	}
}

// TestStudioInBill lists the npm packages of the studio that is in the repository, as a program contains it.
func TestStudioInBill(t *testing.T) {
	b, err := os.ReadFile("../studio/dist/licenses.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := npmPackages(slices.Concat([]byte("\x7fELF The studio of Omnigraph contains these npm packages:"), b, []byte("\x00")))
	var names, locators []string
	for _, p := range list {
		names, locators = append(names, p.Name), append(locators, p.References[0].Locator)
	}
	if !slices.Contains(names, "preact") || !slices.ContainsFunc(locators, func(l string) bool { return strings.HasPrefix(l, "pkg:npm/%40codemirror/view@6.") }) {
		t.Errorf("the packages are %v, %v", names, locators)
	}
	for _, name := range names {
		if !strings.Contains(string(b), "\n"+name+"\n\n") {
			t.Errorf("there is no licence of %s", name)
		}
	}
	if npmPackages([]byte("no studio")) != nil {
		t.Error("a program without the studio has npm packages")
	}
}

// TestBillOfMaterials lists the modules of this test program.
func TestBillOfMaterials(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	programs := []File{{Name: "program", Mode: 0o755, Data: b}}
	text, err := BillOfMaterials("brain", "v1.2.3", programs, at)
	if err != nil {
		t.Fatal(err)
	}
	var doc spdxDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	has := func(name, version string) bool {
		return slices.ContainsFunc(doc.Packages, func(p spdxPackage) bool { return p.Name == name && (version == "" || p.Version == version) })
	}
	if !has("github.com/omnigraph-go/omnigraph", "v1.2.3") || !has("stdlib", "") {
		t.Errorf("the packages are %+v", doc.Packages)
	}
	if doc.Files[0].Checksums[1].Value != Sum(b) || doc.Creation.Created != "2026-11-22T20:00:00Z" {
		t.Errorf("the file is %+v, created %s", doc.Files[0], doc.Creation.Created)
	}
	ids := map[string]bool{spdxRoot: true}
	for _, p := range doc.Packages {
		ids[p.ID] = true
	}
	for _, f := range doc.Files {
		ids[f.ID] = true
	}
	for _, r := range doc.Relationships {
		if !ids[r.Element] || !ids[r.Related] {
			t.Errorf("a relationship has an end that the document does not describe: %+v", r)
		}
	}
	programs[0].Data = []byte("not a program")
	if _, err := BillOfMaterials("brain", "v1.2.3", programs, at); err == nil || !strings.Contains(err.Error(), "program holds no list of its modules") {
		t.Errorf("a file that is no Go program: %v", err)
	}
}

func TestEpoch(t *testing.T) {
	for text, want := range map[string]string{
		"": "1980-01-01T00:00:00Z", "1795428000": "2026-11-23T10:00:00Z", "0": "not before 1980", "today": "not before 1980",
	} {
		t.Setenv("SOURCE_DATE_EPOCH", text)
		got, err := Epoch()
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("SOURCE_DATE_EPOCH=%s: %v, want %s", text, err, want)
			}
		} else if got.Format(time.RFC3339) != want {
			t.Errorf("SOURCE_DATE_EPOCH=%s is %v, want %s", text, got, want)
		}
	}
}

func TestParsePlatform(t *testing.T) {
	if p, err := ParsePlatform("darwin/arm64"); err != nil || p != (Platform{"darwin", "arm64"}) {
		t.Errorf("darwin/arm64 is %v, %v", p, err)
	}
	if _, err := ParsePlatform("linux/386"); err == nil || !strings.Contains(err.Error(), "linux/amd64 linux/arm64") {
		t.Errorf("linux/386: %v", err)
	}
}

func TestSums(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b": "b", "a": "", SumsFile: "old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteSums(dir); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, SumsFile))
	want := "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
	if err != nil || string(got) != want {
		t.Errorf("the sums are %v\n%s", err, got)
	}
}
