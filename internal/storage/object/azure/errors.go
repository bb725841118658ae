//go:build azure

package azure

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"

	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// advice says what an operator can do about an error code of the service.
var advice = map[bloberror.Code]string{
	bloberror.ContainerNotFound:               "create the container, or correct its name in the address of the storage",
	bloberror.ContainerBeingDeleted:           "create the container again when its deletion has ended",
	bloberror.AuthenticationFailed:            "check AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, and the clock of this machine",
	bloberror.InvalidAuthenticationInfo:       "check the credentials in the environment, and the clock of this machine",
	bloberror.AuthorizationPermissionMismatch: "give the identity the role Storage Blob Data Contributor on the container, or the signature the rights to read, add, create, write, delete and list",
	bloberror.AuthorizationFailure:            "check the network rules of the storage account and the rights of the identity",
	bloberror.InsufficientAccountPermissions:  "give the identity the role Storage Blob Data Contributor on the container",
	bloberror.AccountIsDisabled:               "enable the storage account",
	"KeyBasedAuthenticationNotPermitted":      "the storage account accepts no keys: remove AZURE_STORAGE_KEY and use a client secret or a workload identity",
	bloberror.BlobImmutableDueToPolicy:        "remove the immutability policy of the container",
}

// refusal is an answer of the service with an error status. The text of the SDK for it has many lines.
type refusal struct {
	cause *azcore.ResponseError
}

func (r *refusal) Error() string {
	text := fmt.Sprintf("the storage answered with the status %d %s", r.cause.StatusCode, r.cause.ErrorCode)
	if todo := advice[bloberror.Code(r.cause.ErrorCode)]; todo != "" {
		text += "; " + todo
	}
	return text
}

// explain turns an error of the SDK into an error of object.Bucket.
func explain(action, name string, err error) error {
	if err == nil {
		return nil
	}
	meaning := meaning(err)
	var answer *azcore.ResponseError
	var failed *url.Error
	switch {
	case errors.As(err, &answer):
		err = &refusal{answer}
	case errors.As(err, &failed):
		err = failed.Err // without the URL, which may contain a signature
	}
	if meaning != nil {
		return fmt.Errorf("%s %s: %w: %w", action, name, meaning, err)
	}
	return fmt.Errorf("%s %s: %w", action, name, err)
}

// meaning translates an error of the SDK into an error of package object. It returns nil if the service did
// not carry out the request and a repetition would not help.
func meaning(err error) error {
	var answer *azcore.ResponseError
	var untrusted *tokenError
	var dial *net.OpError
	switch {
	case errors.As(err, &untrusted):
		return object.ErrBusy // nothing was sent to the storage
	case errors.As(err, &answer):
		return meaningOf(answer.StatusCode, bloberror.Code(answer.ErrorCode))
	case errors.As(err, &dial) && dial.Op == "dial":
		return object.ErrBusy // nothing was sent
	}
	return object.ErrUnknown
}

// meaningOf does the work of meaning for an answer of the service.
func meaningOf(status int, code bloberror.Code) error {
	switch {
	case code == bloberror.BlobAlreadyExists, code == bloberror.ConditionNotMet:
		return object.ErrExists
	case status == http.StatusPreconditionFailed && code == "":
		return object.ErrExists
	case code == bloberror.BlobNotFound, code == bloberror.ResourceNotFound, status == http.StatusNotFound && code == "":
		return object.ErrNotFound
	case status == http.StatusTooManyRequests:
		return object.ErrBusy
	case status >= 400 && status < 500 && status != http.StatusRequestTimeout:
		return nil
	}
	return object.ErrUnknown // a fault of the service that may have come after the write; ServerBusy too
}
