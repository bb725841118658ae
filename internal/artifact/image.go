package artifact

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// Image describes an OCI image that contains nothing but the given files.
type Image struct {
	Name       string            // the name and the tag that a container engine gives the image
	Labels     map[string]string // the labels of its configuration
	User       string            // the user and the group that its programs run as, as numbers
	Folder     string            // the working directory
	Entrypoint []string          // the program and its first arguments
	Arguments  []string          // the other arguments, which users may replace
	Ports      []string          // such as 8080/tcp
	Volumes    []string          // the folders that outlive a container
	Platforms  []PlatformImage   // one for each platform
}

// PlatformImage holds the files of an image for one platform.
type PlatformImage struct {
	Platform Platform
	layer    []byte // gzipped tar
	diff     string // digest of the tar
}

// The media types of the OCI image specification, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// The types below are documents of the OCI image specification.
type (
	ociDescriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *ociPlatform      `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	ociPlatform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	ociIndex struct {
		SchemaVersion int             `json:"schemaVersion"`
		MediaType     string          `json:"mediaType"`
		Manifests     []ociDescriptor `json:"manifests"`
	}
	ociManifest struct {
		SchemaVersion int             `json:"schemaVersion"`
		MediaType     string          `json:"mediaType"`
		Config        ociDescriptor   `json:"config"`
		Layers        []ociDescriptor `json:"layers"`
	}
	ociConfig struct {
		ociPlatform
		Created string     `json:"created"`
		Config  ociRun     `json:"config"`
		RootFS  ociRootFS  `json:"rootfs"`
		History []ociEvent `json:"history"`
	}
	ociRun struct {
		User         string              `json:"User,omitempty"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
		Env          []string            `json:"Env,omitempty"`
		Entrypoint   []string            `json:"Entrypoint,omitempty"`
		Cmd          []string            `json:"Cmd,omitempty"`
		Volumes      map[string]struct{} `json:"Volumes,omitempty"`
		WorkingDir   string              `json:"WorkingDir,omitempty"`
		Labels       map[string]string   `json:"Labels,omitempty"`
	}
	ociRootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	ociEvent struct {
		Created   string `json:"created"`
		CreatedBy string `json:"created_by"`
	}
)

// Add adds the files of the image for a platform. It adds the folders that the files need.
func (im *Image) Add(p Platform, files []File, at time.Time) error {
	files = withFolders(files)
	var plain, layer bytes.Buffer
	if err := writeTar(&plain, files, at); err != nil {
		return err
	}
	if err := WriteTarGz(&layer, files, at); err != nil {
		return err
	}
	im.Platforms = append(im.Platforms, PlatformImage{p, layer.Bytes(), digest(plain.Bytes())})
	return nil
}

// Write writes the image as a tar archive of an OCI image layout. Container engines load such an
// archive, and the command push of the module release sends it to a registry.
func (im *Image) Write(w io.Writer, at time.Time) error {
	created := at.UTC().Format(time.RFC3339)
	blobs := map[string][]byte{} // by name in the archive
	put := func(mediaType string, data []byte) ociDescriptor {
		d := ociDescriptor{MediaType: mediaType, Digest: digest(data), Size: len(data)}
		blobs["blobs/sha256/"+Sum(data)] = data
		return d
	}
	index := ociIndex{SchemaVersion: 2, MediaType: typeIndex}
	for _, p := range im.Platforms {
		platform := ociPlatform{Architecture: p.Platform.Arch, OS: p.Platform.OS}
		config, err := json.Marshal(ociConfig{
			ociPlatform: platform, Created: created, RootFS: ociRootFS{"layers", []string{p.diff}},
			Config: ociRun{
				User: im.User, ExposedPorts: set(im.Ports), Volumes: set(im.Volumes), WorkingDir: im.Folder, Labels: im.Labels,
				Entrypoint: im.Entrypoint, Cmd: im.Arguments, Env: []string{"PATH=/usr/local/bin"},
			},
			History: []ociEvent{{created, "omnigraph release"}},
		})
		if err != nil {
			return err
		}
		manifest, err := json.Marshal(ociManifest{
			SchemaVersion: 2, MediaType: typeManifest, Config: put(typeConfig, config), Layers: []ociDescriptor{put(typeLayer, p.layer)},
		})
		if err != nil {
			return err
		}
		d := put(typeManifest, manifest)
		d.Platform = &platform
		index.Manifests = append(index.Manifests, d)
	}
	all, err := json.Marshal(index)
	if err != nil {
		return err
	}
	// containerd reads the whole name, other engines the standard annotation.
	top := put(typeIndex, all)
	top.Annotations = map[string]string{"io.containerd.image.name": im.Name, "org.opencontainers.image.ref.name": im.Name}
	layout, err := json.Marshal(ociIndex{SchemaVersion: 2, MediaType: typeIndex, Manifests: []ociDescriptor{top}})
	if err != nil {
		return err
	}
	blobs["index.json"] = layout
	blobs["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	var files []File
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		files = append(files, File{Name: name, Mode: 0o644, Data: blobs[name]})
	}
	return writeTar(w, withFolders(files), at)
}

// digest returns the digest of a blob.
func digest(data []byte) string { return "sha256:" + Sum(data) }

// set returns the names as the keys of a map, which is how the specification writes sets.
func set(names []string) map[string]struct{} {
	if len(names) == 0 {
		return nil
	}
	m := map[string]struct{}{}
	for _, name := range names {
		m[name] = struct{}{}
	}
	return m
}

// ServerUser is the number of the user and of the group that own the data of a server in an image.
const ServerUser = 65532

// ServerImage returns the image of a server. Its programs are in /usr/local/bin, and the folder /app
// holds cluster.yaml and the files that it names. `storage` is the absolute folder of the graphs.
func ServerImage(name, storage string, labels map[string]string) *Image {
	return &Image{
		Name: name, Labels: labels, User: "65532:65532", Folder: "/app", Ports: []string{"8080/tcp"}, Volumes: []string{storage},
		Entrypoint: []string{"/usr/local/bin/omnigraph-server"}, Arguments: []string{"--cluster", "/app", "--bind", "0.0.0.0:8080"},
	}
}

// ServerFiles returns the content of a server's image: the programs, the configuration, the folder
// of the graphs and the certificates of authorities in PEM, with which the server checks an issuer
// of tokens and a provider of embeddings.
func ServerFiles(programs, configuration []File, storage string, authorities []byte) []File {
	files := append(Below("usr/local/bin", programs), Below("app", configuration)...)
	return append(files,
		File{Name: storage[1:], Mode: fs.ModeDir | 0o755, Owner: ServerUser},
		File{Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Data: authorities},
	)
}
