package artifact

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// WriteTarGz writes the files as a gzipped tar archive. All files have the modification time `at`.
func WriteTarGz(w io.Writer, files []File, at time.Time) error {
	z := gzip.NewWriter(w)
	if err := writeTar(z, files, at); err != nil {
		return err
	}
	return z.Close()
}

// writeTar writes the files as a tar archive.
func writeTar(w io.Writer, files []File, at time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		h := &tar.Header{
			Name: f.Name, Typeflag: tar.TypeReg, Mode: int64(f.Mode.Perm()), Size: int64(len(f.Data)),
			Uid: f.Owner, Gid: f.Owner, ModTime: at.UTC(),
		}
		if f.Mode.IsDir() {
			h.Name, h.Typeflag = f.Name+"/", tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.Data); err != nil {
			return err
		}
	}
	return t.Close()
}

// WriteZip writes the files as a zip archive. All files have the modification time `at`, which must
// not be before 1980.
func WriteZip(w io.Writer, files []File, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(f.Mode)
		if f.Mode.IsDir() {
			h.Name, h.Method = f.Name+"/", zip.Store
		}
		to, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.Data); err != nil {
			return err
		}
	}
	return z.Close()
}

// Below returns copies of the files in the folder `dir`.
func Below(dir string, files []File) []File {
	out := slices.Clone(files)
	for i := range out {
		out[i].Name = path.Join(dir, out[i].Name)
	}
	return out
}

// ReadFiles returns the files of fsys with the given names, and the files below the given folders,
// sorted by name. The files belong to root, who alone may write them.
func ReadFiles(fsys fs.FS, names ...string) ([]File, error) {
	var files []File
	for _, name := range names {
		err := fs.WalkDir(fsys, name, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			b, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			files = append(files, File{Name: name, Mode: 0o644, Data: b})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(files, func(a, b File) bool { return a.Name == b.Name }), nil
}

// withFolders adds the missing folders of the files, each before the files in it. They have mode
// 0755 and belong to root.
func withFolders(files []File) []File {
	out := slices.Clone(files)
	have := map[string]bool{}
	for _, f := range files {
		have[f.Name] = true
	}
	for _, f := range files {
		for dir := path.Dir(f.Name); dir != "." && !have[dir]; dir = path.Dir(dir) {
			have[dir] = true
			out = append(out, File{Name: dir, Mode: fs.ModeDir | 0o755})
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out
}
