/** The server's router. In the package it is generated as a type that needs nothing but itself. */
export type { AppRouter } from "../../../src/api/rpc/app-router.ts";
/** Why the server refuses something. */
export type { Reason } from "../../../src/domain/refusals/reasons.ts";
