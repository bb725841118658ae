// Code generated from the Go package client; DO NOT EDIT.

import { ServerError } from "./errors.js";

/** Status 401: the request has no valid token. */
export class UnauthorizedError extends ServerError {
  override readonly name = "UnauthorizedError";
}

/** Status 403: the policy does not allow the request. */
export class ForbiddenError extends ServerError {
  override readonly name = "ForbiddenError";
}

/** Status 404: not found. */
export class NotFoundError extends ServerError {
  override readonly name = "NotFoundError";
}

/** Status 409: the request conflicts with the graph. */
export class ConflictError extends ServerError {
  override readonly name = "ConflictError";
}

/** Status 412: the branch is at another commit. */
export class PreconditionError extends ServerError {
  override readonly name = "PreconditionError";
}

/** Status 410: the server no longer keeps the history. */
export class GoneError extends ServerError {
  override readonly name = "GoneError";
}

/** Status 413: the request or its answer is too large. */
export class TooLargeError extends ServerError {
  override readonly name = "TooLargeError";
}

/** Status 429: too many requests. */
export class BusyError extends ServerError {
  override readonly name = "BusyError";
}

/** Status 503: the server is unavailable. */
export class UnavailableError extends ServerError {
  override readonly name = "UnavailableError";
}

/** Status 304: the client already has the answer. */
export class NotModifiedError extends ServerError {
  override readonly name = "NotModifiedError";
}

/** Status 400: the request is invalid. */
export class InvalidError extends ServerError {
  override readonly name = "InvalidError";
}

/** Status 500: the server failed to execute the request. */
export class InternalError extends ServerError {
  override readonly name = "InternalError";
}

/** The class of the error of each status. */
export const byStatus: { readonly [status: number]: typeof ServerError } = {
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  412: PreconditionError,
  410: GoneError,
  413: TooLargeError,
  429: BusyError,
  503: UnavailableError,
  304: NotModifiedError,
  400: InvalidError,
  500: InternalError,
};
