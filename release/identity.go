package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	common "github.com/sigstore/protobuf-specs/gen/pb-go/common/v1"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/sign"
	"github.com/sigstore/sigstore-go/pkg/tuf"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// serviceTimeout bounds each request to a service of sigstore.
const serviceTimeout = 90 * time.Second

// identity returns the key that signs, and whom the bundles name as its holder: nobody for a key from a file, and else the
// identity of the GitHub workflow that runs this, which sigstore's public services certify, log and date.
func (s *signer) identity(ctx context.Context) (sign.Keypair, sign.BundleOptions, error) {
	if s.key != "" {
		pair, err := readKey(s.key)
		return pair, sign.BundleOptions{Context: ctx}, err
	}
	token, err := workflowToken(ctx)
	if err != nil {
		return nil, sign.BundleOptions{}, err
	}
	options, err := services(ctx, token)
	if err != nil {
		return nil, sign.BundleOptions{}, err
	}
	pair, err := sign.NewEphemeralKeypair(nil)
	return pair, options, err
}

// fileKey is an ECDSA key on P-256, the kind that every tool of sigstore reads.
type fileKey struct{ *ecdsa.PrivateKey }

// readKey reads a private key in PKCS #8 from a PEM file. It is not encrypted.
func readKey(name string) (sign.Keypair, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM; make a key with openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", name)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if k, ok := key.(*ecdsa.PrivateKey); ok && k.Curve == elliptic.P256() {
		return fileKey{k}, nil
	}
	return nil, fmt.Errorf("%s is not an ECDSA key on the curve P-256", name)
}

func (fileKey) GetHashAlgorithm() common.HashAlgorithm { return common.HashAlgorithm_SHA2_256 }

func (fileKey) GetSigningAlgorithm() common.PublicKeyDetails {
	return common.PublicKeyDetails_PKIX_ECDSA_P256_SHA_256
}

func (fileKey) GetKeyAlgorithm() string { return "ECDSA" }

func (k fileKey) GetPublicKey() crypto.PublicKey { return k.Public() }

// GetHint returns the SHA-256 sum of the public key in base64.
func (k fileKey) GetHint() []byte {
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	if err != nil {
		return nil
	}
	sum := sha256.Sum256(der)
	return []byte(base64.StdEncoding.EncodeToString(sum[:]))
}

func (k fileKey) GetPublicKeyPem() (string, error) {
	der, err := x509.MarshalPKIXPublicKey(k.Public())
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), err
}

// SignData returns the signature of data and its digest.
func (k fileKey) SignData(_ context.Context, data []byte) (signature, digest []byte, err error) {
	sum := sha256.Sum256(data)
	signature, err = k.Sign(rand.Reader, sum[:], crypto.SHA256)
	return signature, sum[:], err
}

// workflowToken returns a token that tells sigstore which GitHub workflow runs this.
func workflowToken(ctx context.Context) (string, error) {
	address, secret := os.Getenv("ACTIONS_ID_TOKEN_REQUEST_URL"), os.Getenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	if address == "" || secret == "" {
		return "", errors.New("only a GitHub workflow with the permission `id-token: write` can sign without a key; elsewhere give -key")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"&audience=sigstore", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	res, err := (&http.Client{Timeout: serviceTimeout}).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var answer struct {
		Value string `json:"value"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer); err != nil || res.StatusCode != http.StatusOK || answer.Value == "" {
		return "", fmt.Errorf("GitHub answers a request for the workflow's token with %s and no token", res.Status)
	}
	return answer.Value, nil
}

// services returns the options for the public services of sigstore of today. What they sign is verified before it is
// written.
func services(ctx context.Context, token string) (sign.BundleOptions, error) {
	none := sign.BundleOptions{}
	client, err := tuf.New(tuf.DefaultOptions().WithContext(ctx).WithDisableLocalCache())
	if err != nil {
		return none, err
	}
	trusted, err := root.GetTrustedRoot(client)
	if err != nil {
		return none, err
	}
	config, err := root.GetSigningConfig(client)
	if err != nil {
		return none, err
	}
	now := clock.Now()
	authority, err := root.SelectService(config.FulcioCertificateAuthorityURLs(), sign.FulcioAPIVersions, now)
	if err != nil {
		return none, err
	}
	clocks, err := root.SelectServices(config.TimestampAuthorityURLs(), config.TimestampAuthorityURLsConfig(), sign.TimestampAuthorityAPIVersions, now)
	if err != nil {
		return none, err
	}
	logs, err := root.SelectServices(config.RekorLogURLs(), config.RekorLogURLsConfig(), sign.RekorAPIVersions, now)
	if err != nil {
		return none, err
	}
	options := sign.BundleOptions{
		Context: ctx, TrustedRoot: trusted, CertificateProviderOptions: &sign.CertificateProviderOptions{IDToken: token},
		CertificateProvider: sign.NewFulcio(&sign.FulcioOptions{BaseURL: authority.URL, Timeout: serviceTimeout, Retries: 1}),
	}
	for _, c := range clocks {
		options.TimestampAuthorities = append(options.TimestampAuthorities,
			sign.NewTimestampAuthority(&sign.TimestampAuthorityOptions{URL: c.URL, Timeout: serviceTimeout, Retries: 1}))
	}
	for _, l := range logs {
		options.TransparencyLogs = append(options.TransparencyLogs,
			sign.NewRekor(&sign.RekorOptions{BaseURL: l.URL, Timeout: serviceTimeout, Retries: 1, Version: l.MajorAPIVersion}))
	}
	return options, nil
}
