package main

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push sends an image for all its platforms to a registry. It uses the credentials that docker login
// stored.
func push(ctx context.Context, archive, to string, insecure bool) error {
	var options []name.Option
	if insecure {
		options = append(options, name.Insecure)
	}
	tag, err := name.NewTag(to, append(options, name.StrictValidation)...)
	if err != nil {
		return fmt.Errorf("-to: %w; give a name with a tag, such as %s:0.1.0", err, imageName)
	}
	dir, err := os.MkdirTemp("", "omnigraph-image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	index, err := readImage(archive, dir)
	if err != nil {
		return fmt.Errorf("-image %s: %w", archive, err)
	}
	return remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}

// readImage unpacks the tar archive of an image to the folder `dir` and returns the index of its
// platforms.
func readImage(archive, dir string) (v1.ImageIndex, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := untar(f, dir); err != nil {
		return nil, err
	}
	top, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("the archive has %d images; give one that the command build wrote", len(manifest.Manifests))
	}
	return top.ImageIndex(manifest.Manifests[0].Digest)
}

// untar unpacks a tar archive of files and folders to a folder. The names in the archive must stay
// in the folder.
func untar(r io.Reader, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		to := filepath.Clean(filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			if err := root.MkdirAll(to, 0o755); err != nil {
				return err
			}
			continue
		}
		if err := root.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		f, err := root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, h.FileInfo().Mode().Perm())
		if err != nil {
			return err
		}
		if _, err := io.Copy(f, t); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
}
