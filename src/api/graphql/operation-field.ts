import type {
  FieldRef,
  InputFieldMap,
  InputShapeFromFields,
  ShapeFromTypeParam,
  TypeParam,
} from "@pothos/core";
import type { z } from "zod";
import type { Dependencies } from "../../operations/dependencies.ts";
import type { Operation } from "../../operations/operation.ts";
import {
  type builder,
  callOperation,
  type GraphqlContext,
  type NamedUser,
  type WithoutNulls,
  withoutNulls,
} from "./builder.ts";

type Types = typeof builder.$inferSchemaTypes;

type Shape<Type extends TypeParam<Types>> = ShapeFromTypeParam<Types, Type, true>;

type Options<
  Input extends z.ZodType,
  Output extends z.ZodType,
  Type extends TypeParam<Types>,
  Args extends InputFieldMap,
> = {
  type: Type;
  args?: Args;
  /** In place of the operation's summary. */
  description?: string;
  /** About how many items a list that is no page has. */
  size?: number;
  /** The operation's input; the arguments that are not null unless given. */
  input?: (args: InputShapeFromFields<Args>) => z.input<Input>;
  /** What the field has of the output: all of it unless given. */
  show?: (output: z.input<Output>) => Shape<Type>;
};

/** Arguments that are no input of the operation need `input`. */
type Takes<Input extends z.ZodType, Args extends InputFieldMap> =
  WithoutNulls<InputShapeFromFields<Args>> extends z.input<Input> | NamedUser ? unknown : { input: unknown };

/** An output that has not the field's type needs `show`. */
type Shows<Output extends z.ZodType, Type extends TypeParam<Types>> =
  z.input<Output> extends Shape<Type> ? unknown : { show: unknown };

/** A root field that calls an operation. Nullable, so that a refused one does not discard the other results. */
export function operationField<
  Kind extends "Query" | "Mutation",
  Input extends z.ZodType,
  Output extends z.ZodType,
  Type extends TypeParam<Types>,
  Args extends InputFieldMap = Record<never, never>,
>(
  t: PothosSchemaTypes.RootFieldBuilder<Types, Types["Root"], Kind>,
  operation: Operation<Dependencies, Input, Output>,
  options: Options<Input, Output, Type, Args> & Takes<Input, Args> & Shows<Output, Type>,
): FieldRef<Types, Shape<Type>, Kind> {
  const { type, args = {}, description, size, input = withoutNulls, show = (output) => output } = options;
  const field = {
    type,
    nullable: true,
    args,
    description,
    extensions: { operation, size },
    resolve: async (_: unknown, given: InputShapeFromFields<Args>, context: GraphqlContext) =>
      show(await callOperation(operation, context, input(given) as z.input<Input>)),
  };
  return t.field(field as never) as never;
}
