import { z } from "zod";
import { ChangeObstacle, obstacleSentence } from "./change-obstacle.ts";
import { InputProblem, problemSentence } from "./input-problems.ts";
import { plain, type ReasonDefinition, type RefusalCode, reason } from "./reason-definition.ts";
import { RESOURCES, Resource } from "./resource.ts";
import { UnclearState, unclearStateSentence } from "./unclear-state.ts";

const text = z.string();
const count = z.int();

/**
 * All reasons for refusals. Identifiers are part of the public contract: a published one keeps its name and
 * its parameters. The pages' translations are in `src/messages`, under the same names.
 */
export const REASONS = {
  unauthorized: plain("unauthorized", "Unauthorized"),
  invalid_credentials: plain("unauthorized", "Incorrect email or password"),
  sign_in_expired: plain("unauthorized", "This sign-in has expired: start again with your password"),

  forbidden: plain("forbidden", "Forbidden"),
  session_required: plain("forbidden", "Forbidden"),
  two_factor_required: plain("forbidden", "Set up two-factor authentication first"),
  cross_origin: plain("forbidden", "Forbidden"),
  missing_permission: reason(
    "forbidden",
    z.object({ permission: text }),
    ({ permission }) => `This key does not have the permission ${permission}`,
  ),
  email_not_verified: plain("forbidden", "Confirm your email address first"),
  account_suspended: plain("forbidden", "This account is suspended"),
  email_known_to_provider: plain(
    "forbidden",
    "The payment provider already has a customer with this email address: confirm the address first",
  ),

  too_many_wrong_codes: reason(
    "rate_limited",
    z.object({ retryAfterSeconds: count }),
    () => "Too many wrong codes. Please wait 15 minutes.",
  ),
  rate_limited: reason("rate_limited", z.object({ retryAfterSeconds: count }), () => TOO_MANY_REQUESTS),

  invalid_input: reason("invalid_input", InputProblem, problemSentence),
  batch_too_large: reason(
    "invalid_input",
    z.object({ max: count }),
    ({ max }) => `A batch may hold at most ${max} calls: set maxItems of httpBatchLink to ${max}`,
  ),
  plan_unknown: reason(
    "invalid_input",
    z.object({ planId: text }),
    ({ planId }) => `no such plan: ${planId}`,
  ),
  plan_not_sold: reason("invalid_input", z.object({ plan: text }), ({ plan }) => `${plan} is not for sale`),
  plan_not_sold_by: reason(
    "invalid_input",
    z.object({ plan: text, provider: text }),
    ({ plan, provider }) => `${plan} is not for sale through ${provider}`,
  ),
  price_not_offered: reason(
    "invalid_input",
    z.object({ plan: text, interval: text, currency: text }),
    ({ plan, interval, currency }) => `${plan} has no price per ${interval} in ${currency}`,
  ),
  seats_out_of_range: reason(
    "invalid_input",
    z.object({ plan: text, min: count, max: count }),
    ({ plan, min, max }) => `${plan} allows ${min} to ${max} seats`,
  ),
  expiry_too_late: plain("invalid_input", "expected a time before the year 10000"),
  expiry_in_past: plain("invalid_input", "expected a time in the future"),
  confirmation_mismatch: plain("invalid_input", "expected the email address of the account"),
  return_url_not_allowed: reason(
    "invalid_input",
    z.object({ origins: z.array(text) }),
    ({ origins }) => `expected a URL at one of ${origins.join(", ")}`,
  ),
  url_not_allowed: plain("invalid_input", "expected a public https URL, or one that OUTBOUND_ALLOW allows"),
  link_expired: plain("invalid_input", "This link is invalid or has expired"),
  no_password: plain("invalid_input", "This account has no password: request a password reset to set one"),
  wrong_code: plain("invalid_input", "is not the current code"),
  email_unchanged: plain("invalid_input", "is already the address of the account"),
  wrong_password: plain("invalid_input", "is not the current password"),

  payload_too_large: reason(
    "too_large",
    z.object({ maxBytes: count }),
    ({ maxBytes }) => `expected a body of at most ${maxBytes} bytes`,
  ),
  query_too_long: reason(
    "too_large",
    z.object({ maxCharacters: count }),
    ({ maxCharacters }) => `expected a query string of at most ${maxCharacters} characters: use POST`,
  ),

  not_found: reason("not_found", z.object({ resource: Resource }), ({ resource }) =>
    resource === "endpoint" ? "Not found" : `No such ${RESOURCES[resource]}`,
  ),
  unknown_version: reason(
    "not_found",
    z.object({ supported: z.array(text) }),
    ({ supported }) =>
      `Not found: expected /api/<version>/... with one of the versions ${supported.join(", ")}`,
  ),
  method_not_allowed: plain("method_not_allowed", "Method not allowed"),
  events_dropped: plain("gone", "The events after this position are no longer stored"),

  email_taken: plain("conflict", "An account with this email address already exists"),
  subscription_exists: plain(
    "conflict",
    "The user already has this plan, or a subscription: change or cancel a subscription in the billing portal",
  ),
  checkout_paid: plain("conflict", "The open checkout has been paid: the subscription starts in a moment"),
  no_subscription: plain("conflict", "There is no subscription to manage yet: choose a plan first"),
  subscription_not_paid: plain(
    "conflict",
    "A subscription that is unpaid or paused cannot be changed: continue it in the billing portal first",
  ),
  change_not_supported: reason("conflict", ChangeObstacle, obstacleSentence),
  payment_declined: plain(
    "conflict",
    "The payment was declined and nothing was changed: check the payment method in the billing portal",
  ),
  interval_changed_often: plain(
    "conflict",
    "The billing interval was changed three times within 30 days: change it at the period's end, or later",
  ),
  plan_includes_less: reason(
    "conflict",
    z.object({ feature: text }),
    ({ feature }) =>
      `More of the quota of ${feature} has been used in this period than the plan includes: change to it with the next period`,
  ),
  subscription_changed: plain(
    "conflict",
    "The subscription has changed since the preview: preview the change again",
  ),
  provider_state_unclear: reason(
    "conflict",
    UnclearState,
    (state) => `Nothing was changed: ${unclearStateSentence(state)}`,
  ),
  review_not_needed: plain("conflict", "The subscription does not need review"),
  last_administrator: plain("conflict", "The last administrator cannot be demoted or deleted"),
  too_many_api_keys: plain("conflict", "Too many API keys: revoke one first"),
  users_not_created: reason(
    "conflict",
    z.object({ failed: count, count, firstId: text }),
    ({ failed, count: total, firstId }) =>
      `${failed} of ${total} users were not created, the first of them ${firstId}: its address is taken, or its id belonged to a deleted account`,
  ),
  delivery_taken_over: reason(
    "conflict",
    z.object({ id: text }),
    ({ id }) => `Delivery ${id} was taken over by another attempt`,
  ),
  delivery_in_progress: reason(
    "conflict",
    z.object({ id: text }),
    ({ id }) => `Delivery ${id} is being processed: try again when its lease has expired`,
  ),
  delivery_already_successful: reason(
    "conflict",
    z.object({ id: text }),
    ({ id }) => `Delivery ${id} already succeeded: set force to replay it`,
  ),
  payload_dropped: reason(
    "conflict",
    z.object({ id: text }),
    ({ id }) => `The payload of delivery ${id} is no longer stored`,
  ),
  quota_exceeded: reason(
    "conflict",
    z.object({ feature: text, remaining: count }),
    ({ feature, remaining }) => `The quota of ${feature} would be exceeded: ${remaining} left`,
  ),
  idempotency_key_reused: plain("conflict", "This idempotency key was used with another request body"),

  unavailable: plain("unavailable", "Service unavailable"),
  provider_not_configured: reason(
    "unavailable",
    // Left out where no slot has a provider.
    z.object({ provider: text.optional() }),
    ({ provider }) => `No payment provider is configured${provider === undefined ? "" : ` for ${provider}`}`,
  ),
  provider_unreachable: plain("unavailable", "The payment provider cannot be reached: try again in a minute"),
  provider_rejected: plain("unavailable", "The payment provider rejected the request; nothing was charged"),
  change_incomplete: plain(
    "unavailable",
    "The payment provider made only a part of the change: check the subscription before you try again",
  ),
  checkout_in_progress: plain("unavailable", "A checkout or change is in progress: try again in a minute"),
  checkout_not_closed: plain("unavailable", "An open checkout could not be closed: try again in a minute"),
  cancellation_failed: plain(
    "unavailable",
    "The subscription could not be canceled at the payment provider: cancel it there first",
  ),
  replay_outcome_unknown: reason(
    "unavailable",
    z.object({ id: text }),
    ({ id }) => `The outcome of the replay of delivery ${id} is unknown: check the delivery`,
  ),
  chat_not_configured: plain("unavailable", "The assistant is not configured: set AI_BASE_URL and AI_MODEL"),
  chat_unavailable: plain("unavailable", "The assistant is not responding: try again in a minute"),

  internal_error: plain("internal", "Internal server error"),
} as const;

export const TOO_MANY_REQUESTS = "Too many requests. Please wait a moment.";

/** A stable, documented identifier. */
export type Reason = keyof typeof REASONS;

type ParamsOf<R extends Reason> = z.output<(typeof REASONS)[R]["params"]>;

/** Every reason with its parameters, as a union discriminated by `reason`. */
export type ReasonWithParams = {
  [R in Reason]: Record<never, never> extends ParamsOf<R>
    ? { reason: R; params?: ParamsOf<R> }
    : { reason: R; params: ParamsOf<R> };
}[Reason];

/** Reasons that any operation may give; each operation declares its others. */
export const COMMON_REASONS: readonly Reason[] = [
  "unauthorized",
  "forbidden",
  "session_required",
  "two_factor_required",
  "cross_origin",
  "missing_permission",
  "rate_limited",
  "invalid_input",
  "payload_too_large",
  "query_too_long",
  "unavailable",
];

export function codeOf(reason: Reason): RefusalCode {
  return REASONS[reason].code;
}

export function sentenceOf({ reason, params = {} }: ReasonWithParams, field: string | null): string {
  const { sentence } = REASONS[reason] as ReasonDefinition<z.ZodType>;
  return field === null ? sentence(params) : `${field}: ${sentence(params)}`;
}
