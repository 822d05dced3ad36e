import { actionSurface } from "./action-surface.ts";
import { graphqlSurface } from "./graphql-surface.ts";
import { restSurface } from "./rest-surface.ts";
import { rpcSurface } from "./rpc-surface.ts";
import type { Surface } from "./surface.ts";

export const SURFACES: readonly Surface[] = [
  restSurface("v1", ({ plural }) => plural ?? ""),
  restSurface("v2", () => "data"),
  rpcSurface,
  graphqlSurface,
  actionSurface,
];
