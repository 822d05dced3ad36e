import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from "graphql";
import { z } from "zod";
import type { Operation } from "../../operations/operation.ts";

/**
 * Describes the schema in the words of the operations: a type by `extensions.view`, the schema of its data; a
 * field and its arguments by `extensions.operation`, which it calls. Their own descriptions take precedence.
 */
export function describeTypes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    const { view } = type.extensions;
    if (view instanceof z.ZodObject) type.description ??= view.description;
    for (const field of Object.values(type.getFields())) {
      field.description ??= descriptionIn(view, field.name);
      const operation = field.extensions.operation as Pick<Operation<never>, "summary" | "input"> | undefined;
      if (operation === undefined || !("args" in field)) continue;
      field.description ??= operation.summary;
      for (const arg of field.args) arg.description ??= descriptionIn(operation.input, arg.name);
    }
  }
  return schema;
}

function descriptionIn(schema: unknown, name: string): string | undefined {
  return schema instanceof z.ZodObject
    ? (schema.shape[name] as z.ZodType | undefined)?.description
    : undefined;
}
