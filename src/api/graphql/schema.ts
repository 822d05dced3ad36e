import { lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import "./queries.ts";
import "./mutations.ts";

export const schema = builder.toSchema();

/** The content of `schema.graphql`. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
