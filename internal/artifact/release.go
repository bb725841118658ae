package artifact

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Release describes the artifacts of one version of a module that contains a server.
type Release struct {
	Name      string     // the first part of the names of all artifacts
	Source    Source     // the commands
	Platforms []Platform // for which archives are built; the image has those of Linux
	Time      time.Time  // the modification time of all files
	Out       string     // the folder of the artifacts, which must not exist or be empty

	// Configuration holds cluster.yaml, the files that it names, and other files that belong into
	// every archive.
	Configuration []File

	Image *Image // its Platforms are added

	// InImage selects the programs and the files of the configuration that the image contains.
	InImage func(name string) bool

	Authorities []byte // the certificates for the image

	// Packed, if not nil, writes more artifacts for a platform. `files` is the content of the
	// archive of that platform; the programs come first.
	Packed func(p Platform, programs, files []File) error

	Log io.Writer // receives a line for each artifact

	Progress io.Writer // if not nil, receives a line before each step that takes a while
}

// Epoch returns the modification time of all files in a release: the number of seconds since 1970 in
// the variable SOURCE_DATE_EPOCH, or else the first second of 1980, the earliest time that a zip
// archive can hold.
func Epoch() (time.Time, error) {
	first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		return first, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if at := time.Unix(seconds, 0).UTC(); err == nil && !at.Before(first) {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q; give the seconds from 1970 to a time that is not before 1980", text)
}

// Stem returns the first part of the names of the artifacts for a platform.
func (r *Release) Stem(p Platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", r.Name, r.Source.Version, p.OS, p.Arch)
}

// Write builds the commands for all platforms and writes the archives, the bills of materials and
// the image. WriteSums is left to the caller, who may add artifacts.
func (r *Release) Write(ctx context.Context) error {
	if entries, err := os.ReadDir(r.Out); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty; remove it, or name another one, so that it holds the artifacts of one version", r.Out)
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	for i, p := range r.Platforms {
		r.progress("%s (%d of %d): building the programs", p, i+1, len(r.Platforms))
		if err := r.platform(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if len(r.Image.Platforms) == 0 {
		return nil
	}
	r.progress("packing the image")
	return r.Create(fmt.Sprintf("%s_%s_image.tar", r.Name, r.Source.Version), func(w io.Writer) error {
		return r.Image.Write(w, r.Time)
	})
}

// progress reports a step that begins.
func (r *Release) progress(format string, args ...any) {
	if r.Progress != nil {
		fmt.Fprintf(r.Progress, format+"\n", args...)
	}
}

// platform writes the artifacts of one platform.
func (r *Release) platform(ctx context.Context, p Platform) error {
	programs, err := r.Source.Build(ctx, p)
	if err != nil {
		return err
	}
	r.progress("%s: collecting the licences, packing the archive", p)
	licences, unlicensed, err := r.Source.Licences(ctx, p)
	if err != nil {
		return err
	}
	for _, path := range unlicensed {
		fmt.Fprintf(r.Log, "%s has no licence file; check whether you may distribute it\n", path)
	}
	configuration := append([]File{{Name: "THIRD-PARTY-LICENCES", Mode: 0o644, Data: licences}}, r.Configuration...)
	files := append(append([]File(nil), programs...), configuration...)
	pack, ending := WriteTarGz, ".tar.gz"
	if p.OS == "windows" {
		pack, ending = WriteZip, ".zip"
	}
	err = r.Create(r.Stem(p)+ending, func(w io.Writer) error { return pack(w, Below(r.Stem(p), files), r.Time) })
	if err != nil {
		return err
	}
	bill, err := BillOfMaterials(r.Stem(p), r.Source.Version, programs, r.Time)
	if err != nil {
		return err
	}
	err = r.Create(r.Stem(p)+".spdx.json", func(w io.Writer) error { _, err := w.Write(bill); return err })
	if err != nil {
		return err
	}
	if p.OS == "linux" {
		image := ServerFiles(r.selected(programs), r.selected(configuration), r.Image.Volumes[0], r.Authorities)
		if err := r.Image.Add(p, image, r.Time); err != nil {
			return err
		}
	}
	if r.Packed != nil {
		return r.Packed(p, programs, files)
	}
	return nil
}

// selected returns the files that the image contains.
func (r *Release) selected(files []File) []File {
	var in []File
	for _, f := range files {
		if r.InImage(f.Name) {
			in = append(in, f)
		}
	}
	return in
}

// Create writes an artifact and logs its name.
func (r *Release) Create(name string, write func(io.Writer) error) error {
	path := filepath.Join(r.Out, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = write(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		fmt.Fprintln(r.Log, path)
	}
	return err
}
