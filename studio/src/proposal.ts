// Proposals: the members of the server's answers about them, and which of their reviews count.

import type * as wire from "../../client/typescript/src/wire";
import type { ApiError, Image, Row } from "./api";
import type { Json } from "./json";

export const states = ["open", "merged", "closed"] as const;

export type ProposalSummary = wire.ProposalSummary;

export type EntityPlace = wire.EntityPlace;

export interface Conflict extends EntityPlace {
  kind: string;
  property: string; // "" for the whole entity
  message: string;
  resolvable: boolean;
  base: Image | null;
  ours: Image | null;
  theirs: Image | null;
}

export interface Resolution extends EntityPlace {
  property: string; // "" for the whole entity
  take: "ours" | "theirs" | "value";
  value: Json;
}

/** A resolution in a request. It has no property if it is about the whole entity, and a value only if it takes one. */
export type NewResolution = Omit<Resolution, "property" | "value"> & { property?: string; value?: Json };

export type ProposalEvent = wire.ProposalEvent;

export interface Check {
  query: string; // "" if the user may not invoke the query
  title: string;
  outcome: "passed" | "failed" | "unfinished";
  reason: string | null; // why the check is unfinished
  rows?: Row[]; // only if the user may invoke the query
  more_rows?: boolean;
}

/** The query of a proposal, as the server describes it to the user. */
export type ProposedQuery = Omit<wire.ProposedQuery, "example"> & { example: (Omit<wire.QueryExample, "params" | "rows"> & { params: Record<string, Json>; rows: Row[] }) | null };

export type Counts = wire.ChangeCounts;

export interface Proposal extends ProposalSummary {
  description: string;
  merge_commit_id: string | null;
  resolutions: Resolution[];
  events: ProposalEvent[];
  source_commit_id: string;
  target_commit_id: string;
  base_commit_id: string;
  digest: string; // "" if the branches cannot be compared
  nodes: Counts;
  edges: Counts;
  conflicts: Conflict[];
  conflict_count: number;
  approved_by: string[];
  changes_requested_by: string[];
  blockers: string[];
  checks: Check[]; // empty unless the proposal is open
  query?: ProposedQuery; // only of a proposal of a query
}

/**
 * Changes the proposal on the server. The promise is true if the server accepted the request. If the server finds a fault in
 * the body, `refused` gets the error, so that the form can show it where the user is; without `refused`, the head of the page
 * shows it.
 */
export type Send = (
  route: "" | "/review" | "/merge" | "/close",
  body: Record<string, unknown>,
  done: string,
  refused?: (error: ApiError) => void,
) => Promise<boolean>;

/** Reports whether two places are the same entity. */
export function sameEntity(a: EntityPlace, b: EntityPlace): boolean {
  return a.entity_kind === b.entity_kind && a.type_name === b.type_name && a.id === b.id;
}

/** Reports whether an event is the decision of a reviewer. */
export function isReview(event: ProposalEvent): boolean {
  return event.kind === "approved" || event.kind === "changes_requested";
}

/**
 * Why a review counts or not. "replaced": the reviewer decided again later. "unknown": the branches cannot be
 * compared. "void": the digest is another one by now. "barred": the policy does not let the reviewer approve
 * this proposal.
 */
export type Standing = "counts" | "replaced" | "unknown" | "void" | "barred";

/** Returns the standing of the review that is event i of the proposal. */
export function standingOf(proposal: Proposal, i: number): Standing {
  const review = proposal.events[i] as ProposalEvent;
  const later = proposal.events.slice(i + 1);
  if (later.some((e) => isReview(e) && e.actor_id === review.actor_id)) {
    return "replaced";
  }
  if (proposal.digest === "") {
    return "unknown";
  }
  if (review.digest !== proposal.digest) {
    return "void";
  }
  return review.kind === "changes_requested" || proposal.approved_by.includes(review.actor_id ?? "") ? "counts" : "barred";
}

/** Returns the query string of links that show the entities of the source, also after the source was deleted. */
export function atSource(p: Proposal): Record<string, string> {
  return p.state === "open" ? { branch: p.source, at: "" } : { branch: p.target, at: p.source_commit_id };
}

/** Returns the query string of links that show the entities of the merge base. */
export function atBase(p: Proposal): Record<string, string> {
  return { branch: p.target, at: p.base_commit_id };
}

/** Reports whether a branch has the name of a draft: draft/ and a ULID. */
export function isDraft(branch: string): boolean {
  return /^draft\/[0-9A-HJKMNP-TV-Z]{26}$/.test(branch);
}
