//go:build azure

package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

const (
	// authority issues tokens unless AZURE_AUTHORITY_HOST names another address.
	authority = "https://login.microsoftonline.com"

	// assertion is the type of the token that a workload identity exchanges (RFC 7523).
	assertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
)

// connect returns a client with the credentials of the environment. It takes the first that
// exists of the key of the account, a shared access signature, a workload identity and a client secret.
func (l *location) connect(transport *http.Client) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: azcore.ClientOptions{
		Retry: policy.RetryOptions{MaxRetries: -1}, Transport: transport, Telemetry: policy.TelemetryOptions{ApplicationID: "omnigraph"},
	}}
	if key := os.Getenv("AZURE_STORAGE_KEY"); key != "" {
		credential, err := container.NewSharedKeyCredential(l.account, key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not the key of a storage account: it is not valid base64") // err may repeat the key
		}
		return container.NewClientWithSharedKeyCredential(l.address, credential, options)
	}
	if signature := strings.TrimPrefix(os.Getenv("AZURE_STORAGE_SAS_TOKEN"), "?"); signature != "" {
		return container.NewClientWithNoCredential(l.address+"?"+signature, options)
	}
	identity, err := fromEnvironment(transport)
	if err != nil {
		return nil, err
	}
	return container.NewClient(l.address, identity, options)
}

// identity gets tokens for a client of Microsoft Entra. The SDK keeps each token until shortly before it
// expires.
type identity struct {
	config    clientcredentials.Config
	tokenFile string // of a workload identity; empty with a client secret
	transport *http.Client
}

// fromEnvironment returns the identity that the environment names.
func fromEnvironment(transport *http.Client) (*identity, error) {
	tenant, client := os.Getenv("AZURE_TENANT_ID"), os.Getenv("AZURE_CLIENT_ID")
	file, secret := os.Getenv("AZURE_FEDERATED_TOKEN_FILE"), os.Getenv("AZURE_CLIENT_SECRET")
	if tenant == "" || client == "" || file == "" && secret == "" {
		return nil, errors.New("the environment has no credentials for Azure Blob Storage; set AZURE_STORAGE_KEY, or AZURE_STORAGE_SAS_TOKEN, or AZURE_TENANT_ID and AZURE_CLIENT_ID with AZURE_FEDERATED_TOKEN_FILE or AZURE_CLIENT_SECRET")
	}
	host := strings.TrimSuffix(os.Getenv("AZURE_AUTHORITY_HOST"), "/")
	if host == "" {
		host = authority
	}
	i := &identity{tokenFile: file, transport: transport, config: clientcredentials.Config{
		ClientID: client, TokenURL: host + "/" + url.PathEscape(tenant) + "/oauth2/v2.0/token", AuthStyle: oauth2.AuthStyleInParams,
	}}
	if file == "" {
		i.config.ClientSecret = secret
	}
	return i, nil
}

// GetToken implements azcore.TokenCredential.
func (i *identity) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	config := i.config
	config.Scopes = o.Scopes
	if i.tokenFile != "" {
		text, err := os.ReadFile(i.tokenFile) // each time, because Kubernetes replaces the token
		if err != nil {
			return azcore.AccessToken{}, &tokenError{fmt.Errorf("reading the file of AZURE_FEDERATED_TOKEN_FILE: %w", err)}
		}
		config.EndpointParams = url.Values{"client_assertion_type": {assertion}, "client_assertion": {strings.TrimSpace(string(text))}}
	}
	token, err := config.Token(context.WithValue(ctx, oauth2.HTTPClient, i.transport))
	if err != nil {
		return azcore.AccessToken{}, &tokenError{err}
	}
	return azcore.AccessToken{Token: token.AccessToken, ExpiresOn: token.Expiry}, nil
}

// tokenError reports that the request was not sent because no token could be fetched.
type tokenError struct{ err error }

func (e *tokenError) Error() string { return "getting a token of Microsoft Entra: " + e.err.Error() }

// Unwrap returns the cause.
func (e *tokenError) Unwrap() error { return e.err }
