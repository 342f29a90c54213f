"""From a PyTorch module to the output of OpenCV's dnn."""
import cv2
import road


def engine(path):
    cv2.setNumThreads(1)
    net = cv2.dnn.readNetFromONNX(str(path))

    def run(feeds):
        for name, array in feeds.items():
            net.setInput(array, name)
        return [net.forward()]
    return run


if __name__ == "__main__":
    road.travel("opencv", engine)
