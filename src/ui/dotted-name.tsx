import { Fragment } from "react";

/** A name such as `customer.subscription.updated`: where it has no room, it is continued on the next line after a dot. */
export function DottedName({ name }: { name: string }) {
  const [first, ...others] = name.split(".");
  return (
    <>
      {first}
      {others.map((part, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a name stay where they are.
        <Fragment key={position}>
          .<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
