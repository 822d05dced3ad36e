import { Skeleton } from "../../../../ui/skeleton.tsx";

export function ServiceKeysSkeleton() {
  return (
    <>
      <Skeleton className="mb-2 h-7 w-36" />
      <Skeleton className="mb-6 h-5 w-80 max-w-full" />
      <div className="flex flex-col gap-4">
        <Skeleton className="h-96" />
        <Skeleton className="h-80" />
      </div>
    </>
  );
}
