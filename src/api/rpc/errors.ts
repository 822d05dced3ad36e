import type { TRPC_ERROR_CODE_KEY, TRPCError } from "@trpc/server";
import { getHTTPStatusCodeFromError } from "@trpc/server/http";
import { type TRPC_ERROR_CODE_NUMBER, TRPC_ERROR_CODES_BY_KEY } from "@trpc/server/rpc";
import { Refusal, type RefusalCode } from "../../domain/refusal.ts";

const codeOf = {
  unauthorized: "UNAUTHORIZED",
  forbidden: "FORBIDDEN",
  rate_limited: "TOO_MANY_REQUESTS",
  invalid_input: "BAD_REQUEST",
  too_large: "PAYLOAD_TOO_LARGE",
  not_found: "NOT_FOUND",
  conflict: "CONFLICT",
  unavailable: "SERVICE_UNAVAILABLE",
} as const satisfies Record<RefusalCode, TRPC_ERROR_CODE_KEY>;

/** What a client is told of an error: tRPC's own shape, without the stack. */
export type RpcErrorShape = {
  message: string;
  code: TRPC_ERROR_CODE_NUMBER;
  data: {
    code: TRPC_ERROR_CODE_KEY;
    httpStatus: number;
    /** The procedure's; not there when there is no such procedure, or when the request as a whole is refused. */
    path?: string;
  };
};

/** @param path of a procedure that exists, or `null` */
export function shapeOf(error: TRPCError, path: string | null): RpcErrorShape {
  const { code, message } = toldOf(error);
  return {
    message,
    code: TRPC_ERROR_CODES_BY_KEY[code],
    data: {
      code,
      httpStatus: getHTTPStatusCodeFromError({ code } as TRPCError),
      ...(path === null ? {} : { path }),
    },
  };
}

/** Whether the operator should hear of it. What tRPC itself finds wrong with a request is the client's. */
export function isDefect({ code, cause }: TRPCError): boolean {
  return code === "INTERNAL_SERVER_ERROR" && !(cause instanceof Refusal);
}

function toldOf({ code, cause, message }: TRPCError): { code: TRPC_ERROR_CODE_KEY; message: string } {
  if (cause instanceof Refusal) return { code: codeOf[cause.code], message: cause.message };
  if (cause?.name === "DatabaseUnavailable") {
    return { code: "SERVICE_UNAVAILABLE", message: "Service unavailable" };
  }
  if (code === "INTERNAL_SERVER_ERROR") return { code, message: "Internal server error" };
  if (code === "NOT_FOUND") return { code, message: "there is no such procedure" };
  if (code === "UNSUPPORTED_MEDIA_TYPE") {
    return { code, message: "Content-Type: expected application/json" };
  }
  // Others' words about a request that cannot be read quote it, or speak of their own insides.
  return { code, message: cause === undefined ? message : "expected a request as tRPC clients send it" };
}
