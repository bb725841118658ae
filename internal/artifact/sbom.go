package artifact

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The types below are the part of SPDX 2.3 that a bill of materials of Go programs needs.
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		License       string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Files         []spdxFile         `json:"files"`
		Relationships []spdxRelationship `json:"relationships"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID            string         `json:"SPDXID"`
		Name          string         `json:"name"`
		Version       string         `json:"versionInfo,omitempty"`
		Download      string         `json:"downloadLocation"`
		FilesAnalyzed bool           `json:"filesAnalyzed"`
		Concluded     string         `json:"licenseConcluded"`
		Declared      string         `json:"licenseDeclared"`
		Copyright     string         `json:"copyrightText"`
		Comment       string         `json:"comment,omitempty"`
		References    []spdxExternal `json:"externalRefs,omitempty"`
	}
	spdxExternal struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxFile struct {
		ID        string         `json:"SPDXID"`
		Name      string         `json:"fileName"`
		Types     []string       `json:"fileTypes"`
		Checksums []spdxChecksum `json:"checksums"`
		Concluded string         `json:"licenseConcluded"`
		Copyright string         `json:"copyrightText"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxRelationship struct {
		Element string `json:"spdxElementId"`
		Type    string `json:"relationshipType"`
		Related string `json:"relatedSpdxElement"`
	}
)

const (
	spdxRoot    = "SPDXRef-DOCUMENT"
	spdxUnknown = "NOASSERTION"
)

// notInID matches the characters that an SPDX identifier may not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// BillOfMaterials returns an SPDX document in JSON that lists the programs, the modules that the
// Go linker recorded in them, and the npm packages of the studio in them. `name` is the name of the document, and `version` that of the main
// module.
func BillOfMaterials(name, version string, programs []File, at time.Time) ([]byte, error) {
	doc := spdxDocument{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: spdxRoot, Name: name,
		Creation: spdxCreation{at.UTC().Format(time.RFC3339), []string{"Tool: omnigraph-release-" + version}},
	}
	packages := map[string]spdxPackage{}
	for _, program := range programs {
		info, err := buildinfo.Read(bytes.NewReader(program.Data))
		if err != nil {
			return nil, fmt.Errorf("%s holds no list of its modules: %w", program.Name, err)
		}
		sha := sha1.Sum(program.Data)
		file := spdxFile{
			ID: "SPDXRef-File-" + notInID.ReplaceAllString(program.Name, "-"), Name: "./" + program.Name, Types: []string{"BINARY"},
			Checksums: []spdxChecksum{{"SHA1", hex.EncodeToString(sha[:])}, {"SHA256", Sum(program.Data)}},
			Concluded: spdxUnknown, Copyright: spdxUnknown,
		}
		doc.Files = append(doc.Files, file)
		info.Main.Version = version
		linked := append([]*debug.Module{&info.Main, {Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}}, info.Deps...)
		for i, m := range linked {
			p := spdxModule(m)
			packages[p.ID] = p
			if i == 0 {
				doc.Relationships = append(doc.Relationships, spdxRelationship{file.ID, "GENERATED_FROM", p.ID})
				continue
			}
			doc.Relationships = append(doc.Relationships, spdxRelationship{file.ID, "STATIC_LINK", p.ID})
		}
		for _, p := range npmPackages(program.Data) {
			packages[p.ID] = p
			doc.Relationships = append(doc.Relationships, spdxRelationship{file.ID, "CONTAINS", p.ID})
		}
		doc.Relationships = append(doc.Relationships, spdxRelationship{spdxRoot, "DESCRIBES", file.ID})
	}
	for _, p := range packages {
		doc.Packages = append(doc.Packages, p)
	}
	slices.SortFunc(doc.Packages, func(a, b spdxPackage) int { return cmp.Compare(a.ID, b.ID) })
	// A namespace must be unique for the content of the document.
	content, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	doc.Namespace = "https://spdx.org/spdxdocs/" + name + "-" + Sum(content)
	out, err := json.MarshalIndent(doc, "", "  ")
	return append(out, '\n'), err
}

// spdxModule describes a module.
func spdxModule(m *debug.Module) spdxPackage {
	path, version, comment := m.Path, m.Version, ""
	if m.Replace != nil {
		comment = "replaced by another module or folder"
		if m.Replace.Version != "" {
			path, version, comment = m.Replace.Path, m.Replace.Version, "replaces "+m.Path+" "+m.Version
		}
	}
	p := spdxPackage{
		ID:   "SPDXRef-Module-" + notInID.ReplaceAllString(m.Path, "-") + "-" + notInID.ReplaceAllString(version, "-"),
		Name: path, Version: version, Download: spdxUnknown, Concluded: spdxUnknown, Declared: spdxUnknown, Copyright: spdxUnknown, Comment: comment,
	}
	if version != "" {
		p.References = []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")}}
	}
	return p
}

// npmList matches the list of npm packages at the beginning of the licences of the studio, which a program that has the studio contains.
var npmList = regexp.MustCompile(`The studio of Omnigraph contains these npm packages:\n\n((?:@?[a-z0-9./-]+ [0-9][0-9A-Za-z.+-]*\n)+)\n`)

// npmPackages describes the npm packages in a program.
func npmPackages(program []byte) (all []spdxPackage) {
	found := npmList.FindSubmatch(program)
	if found == nil {
		return nil
	}
	for line := range strings.Lines(string(found[1])) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, spdxPackage{
			ID:   "SPDXRef-Npm-" + notInID.ReplaceAllString(name, "-") + "-" + notInID.ReplaceAllString(version, "-"),
			Name: name, Version: version, Download: spdxUnknown, Concluded: spdxUnknown, Declared: spdxUnknown, Copyright: spdxUnknown,
			References: []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version}},
		})
	}
	return all
}
