import { lexicographicSortSchema, printSchema } from "graphql";
import { builder } from "./builder.ts";
import { describeTypes } from "./describe-types.ts";
import "./queries.ts";
import "./mutations.ts";

export const schema = describeTypes(builder.toSchema());

/** The content of `schema.graphql`. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}
