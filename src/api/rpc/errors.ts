import type { TRPC_ERROR_CODE_KEY, TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { type TRPC_ERROR_CODE_NUMBER, TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import type { RefusalCode } from "../../domain/refusals/reason-definition.ts";
import type { Reason } from "../../domain/refusals/reasons.ts";
import { Refusal, refusalFor, shownReason } from "../../domain/refusals/refusal.ts";

const rpcCodeOf = {
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  rate_limited: "TOO_MANY_REQUESTS",
  invalid_input: "BAD_REQUEST",
  too_large: "PAYLOAD_TOO_LARGE",
  not_found: "NOT_FOUND",
  method_not_allowed: "METHOD_NOT_SUPPORTED",
  gone: "NOT_FOUND",
  conflict: "CONFLICT",
  unavailable: "SERVICE_UNAVAILABLE",
  internal: "INTERNAL_SERVER_ERROR",
} as const satisfies Record<RefusalCode, TRPC_ERROR_CODE_KEY>;

/** An error as the client sees it: tRPC's shape, without the stack. */
export type RpcErrorShape = {
  message: string;
  code: TRPC_ERROR_CODE_NUMBER;
  data: {
    code: TRPC_ERROR_CODE_KEY;
    httpStatus: number;
    reason: Reason;
    params: Record<string, unknown>;
    /** The procedure's path; absent for an unknown procedure, or when the whole request is refused. */
    path?: string;
  };
};

/** @param path of an existing procedure, or `null` */
export function shapeOf(error: TRPCError, path: string | null): RpcErrorShape {
  const { code, message, reason, params } = shownError(error);
  return {
    message,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: {
      code,
      httpStatus: getHTTPStatusCodeFromError({ code } as TRPCError),
      reason,
      params,
      ...(path === null ? {} : { path }),
    },
  };
}

/** Whether to log it for the operator. Request errors that tRPC itself reports are the client's. */
export function isDefect({ code, cause }: TRPCError): boolean {
  return code === "INTERNAL_SERVER_ERROR" && !(cause instanceof Refusal);
}

type Shown = {
  code: TRPC_ERROR_CODE_KEY;
  message: string;
  reason: Reason;
  params: Record<string, unknown>;
};

function shownError({ code, cause, message }: TRPCError): Shown {
  if (cause instanceof Refusal || code === "INTERNAL_SERVER_ERROR") {
    const refusal = refusalFor(cause);
    return { code: rpcCodeOf[refusal.code], message: refusal.message, ...shownReason(refusal) };
  }
  switch (code) {
    case "NOT_FOUND":
      return { code, message: "No such procedure", reason: "not_found", params: { resource: "endpoint" } };
    case "METHOD_NOT_SUPPORTED":
      return { code, message, reason: "method_not_allowed", params: {} };
    case "UNSUPPORTED_MEDIA_TYPE":
      return unreadable(code, "Content-Type: expected application/json");
    default:
      // Library messages quote the unreadable request, or expose internals.
      return unreadable(code, cause === undefined ? message : "expected a request as tRPC clients send it");
  }
}

function unreadable(code: TRPC_ERROR_CODE_KEY, message: string): Shown {
  return { code, message, reason: "invalid_input", params: { problem: "invalid" } };
}
