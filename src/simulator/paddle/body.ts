import type { Context } from "hono";
import { type Json, readJson } from "../http/json-body.ts";
import { PaddleProblem } from "./errors.ts";

export async function body(c: Context): Promise<Json> {
  const json = await readJson(c);
  if (json === null) throw new PaddleProblem(400, "bad_request", "Invalid JSON.");
  return json;
}
