package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	attestation "github.com/in-toto/attestation/go/v1"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/omnigraph-go/omnigraph/internal/artifact"
)

// The files that signer writes, both sigstore bundles in JSON.
const (
	signatureFile  = artifact.SumsFile + ".sigstore.json" // the signature of artifact.SumsFile
	provenanceFile = "provenance.sigstore.json"           // an in-toto statement with SLSA's predicate, in a DSSE envelope
)

const (
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = homepage + "/blob/main/docs/releases.md#signatures-and-provenance"
)

// signer signs the artifacts of a version.
type signer struct {
	version, commit     string // of the sources; the commit may be empty
	dist                string // the folder of the artifacts, with their sums
	builder, invocation string // the URI of what built them, and that of the run; the second may be empty
	key                 string // the file of a private key in PEM; if it is empty, sigstore certifies the workflow's identity
}

// sign compares the artifacts with their sums, and writes the files signatureFile and provenanceFile. They are not in the
// sums, because a signature differs each time.
func (s *signer) sign(ctx context.Context) error {
	sums, err := os.ReadFile(filepath.Join(s.dist, artifact.SumsFile))
	if err != nil {
		return err
	}
	subjects, err := s.subjects(string(sums))
	if err != nil {
		return err
	}
	statement, err := s.statement(subjects)
	if err != nil {
		return err
	}
	pair, options, err := s.identity(ctx)
	if err != nil {
		return err
	}
	for _, signed := range []struct {
		name    string
		content sign.Content
	}{
		{signatureFile, &sign.PlainData{Data: sums}},
		{provenanceFile, &sign.DSSEData{Data: statement, PayloadType: "application/vnd.in-toto+json"}},
	} {
		bundle, err := sign.Bundle(signed.content, pair, options)
		if err != nil {
			return fmt.Errorf("%s: %w", signed.name, err)
		}
		text, err := marshal(bundle)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.dist, signed.name), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// subjects returns the artifacts that the sums list. Each must have its sum.
func (s *signer) subjects(sums string) ([]*attestation.ResourceDescriptor, error) {
	var subjects []*attestation.ResourceDescriptor
	for line := range strings.Lines(sums) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || filepath.Base(name) != name {
			return nil, fmt.Errorf("%s has the line %q; build the artifacts again", artifact.SumsFile, line)
		}
		data, err := os.ReadFile(filepath.Join(s.dist, name))
		if err != nil {
			return nil, err
		}
		if artifact.Sum(data) != sum {
			return nil, fmt.Errorf("%s does not have the sum in %s; build the artifacts again", name, artifact.SumsFile)
		}
		subjects = append(subjects, &attestation.ResourceDescriptor{Name: name, Digest: map[string]string{"sha256": sum}})
	}
	return subjects, nil
}

// statement returns the provenance of the artifacts: an in-toto statement in JSON.
func (s *signer) statement(subjects []*attestation.ResourceDescriptor) ([]byte, error) {
	if s.builder == "" {
		return nil, errors.New("the provenance needs the URI of what built the artifacts: give -builder")
	}
	parameters, err := structpb.NewStruct(map[string]any{"version": s.version})
	if err != nil {
		return nil, err
	}
	source := &attestation.ResourceDescriptor{Uri: "git+" + homepage + "@refs/tags/" + s.version}
	if s.commit != "" {
		source.Digest = map[string]string{"gitCommit": s.commit}
	}
	made := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters, ResolvedDependencies: []*attestation.ResourceDescriptor{source},
		},
		RunDetails: &provenance.RunDetails{
			Builder: &provenance.Builder{Id: s.builder}, Metadata: &provenance.BuildMetadata{InvocationId: s.invocation},
		},
	}
	if err := made.Validate(); err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(made)
	if err != nil {
		return nil, err
	}
	predicate := &structpb.Struct{}
	if err := protojson.Unmarshal(text, predicate); err != nil {
		return nil, err
	}
	statement := &attestation.Statement{
		Type: attestation.StatementTypeUri, Subject: subjects, PredicateType: predicateType, Predicate: predicate,
	}
	if err := statement.Validate(); err != nil {
		return nil, err
	}
	return marshal(statement)
}

// marshal returns a message in JSON without the spaces that protojson draws at random.
func marshal(m proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, text)
	return compact.Bytes(), err
}
