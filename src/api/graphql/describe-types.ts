import { type GraphQLSchema, isInputObjectType, isInterfaceType, isObjectType } from "graphql";
import { z } from "zod";

/**
 * Describes the types that show an operation's data as the operation does: `extensions.view` of a type is the
 * schema of its data. Descriptions that a type has of its own take precedence.
 */
export function describeTypes(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) continue;
    const { view } = type.extensions;
    if (!(view instanceof z.ZodObject)) continue;
    type.description ??= view.description;
    for (const field of Object.values(type.getFields())) {
      field.description ??= (view.shape[field.name] as z.ZodType | undefined)?.description;
    }
  }
  return schema;
}
