import { Fragment } from "react";

/** A name such as `customer.subscription.updated`, which wraps after a dot or an underscore where it can. */
export function DottedName({ name }: { name: string }) {
  const [first, ...others] = name.split(/(?<=[._])/);
  return (
    <>
      {first}
      {others.map((part, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay where they are.
        <Fragment key={position}>
          <wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
