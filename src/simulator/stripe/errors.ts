import { hash } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { bearerKey, isSameKey } from "../http/api-key.ts";
import type { Parameter } from "../http/parameters.ts";
import type { ProviderSlot } from "../server/provider-slot.ts";

export class StripeProblem extends Error {
  override name = "StripeProblem";
  readonly status: ContentfulStatusCode;
  readonly body: { type: string; message: string; code?: string; param?: string };

  constructor(status: ContentfulStatusCode, body: StripeProblem["body"]) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

export function invalid(message: string, param?: string, code = "parameter_invalid"): StripeProblem {
  return new StripeProblem(400, {
    type: "invalid_request_error",
    code,
    message,
    ...(param ? { param } : {}),
  });
}

/** @param status 400 for an object in the body, 404 for one in the path */
export function missing(resource: string, id: string, param: string, status: 400 | 404 = 404): StripeProblem {
  return new StripeProblem(status, {
    type: "invalid_request_error",
    code: "resource_missing",
    param,
    message: `No such ${resource}: '${id}'`,
  });
}

export function unknownParameter({ path }: Parameter): StripeProblem {
  const name = nameOf(path);
  return invalid(`Received unknown parameter: ${name}`, name, "parameter_unknown");
}

export function unsupportedValue({ path, value }: Parameter, supported: readonly string[]): StripeProblem {
  if (path[0] === "expand") return invalid(`This property cannot be expanded (${value}).`, "expand");
  const name = nameOf(path);
  return invalid(`Invalid ${name}: must be one of ${supported.join(", ")}`, name);
}

/** `items[0][price]` */
function nameOf([first, ...rest]: readonly string[]): string {
  return `${first}${rest.map((segment) => `[${segment}]`).join("")}`;
}

export function requireStripeKey(apiKey: string): MiddlewareHandler {
  return async (c, next) => {
    const presented = presentedKey(c.req.header("authorization"));
    if (presented === null || !isSameKey(presented, apiKey)) {
      throw new StripeProblem(401, {
        type: "invalid_request_error",
        message:
          presented === null
            ? "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth."
            : `Invalid API Key provided: ${"*".repeat(8)}${presented.slice(-4)}`,
      });
    }
    await next();
  };
}

/** As bearer, or as the user of basic authentication. */
function presentedKey(header: string | undefined): string | null {
  const basic = /^basic (.+)$/i.exec(header ?? "")?.[1];
  return basic ? (Buffer.from(basic, "base64").toString().split(":")[0] ?? null) : bearerKey(header);
}

const MAX_REMEMBERED_RESPONSES = 200;

/**
 * A repeated idempotency key returns the stored response, an error too; a different request with the same key is
 * refused. https://docs.stripe.com/api/idempotent_requests
 */
export function rememberAnswers(slot: ProviderSlot): MiddlewareHandler {
  return async (c, next) => {
    const key = c.req.header("idempotency-key");
    if (c.req.method !== "POST" || !key) return next();
    const request = hash("sha256", `${c.req.path} ${await c.req.text()}`, "hex");
    const { remembered } = slot.state;
    const before = remembered.find((response) => response.key === key);
    if (before && before.request !== request) {
      throw new StripeProblem(400, {
        type: "idempotency_error",
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      });
    }
    if (before) {
      c.header("Idempotent-Replayed", "true");
      return c.body(before.body, before.status as ContentfulStatusCode, {
        "content-type": "application/json",
      });
    }
    await next();
    if (isRefusedUnexecuted(c.error)) return;
    remembered.push({ key, request, status: c.res.status, body: await c.res.clone().text() });
    if (remembered.length > MAX_REMEMBERED_RESPONSES) remembered.shift();
  };
}

/** Stripe stores no response to parameters that are invalid. */
function isRefusedUnexecuted(error: unknown): boolean {
  if (error === undefined) return false;
  return !(error instanceof StripeProblem) || (error.body.code ?? "parameter_").startsWith("parameter_");
}
